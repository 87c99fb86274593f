import Dispatch
import Foundation
import Synchronization
import Testing

/// A pseudo-terminal, and what is written to it. It is read all the time, as a real one is: a program
/// that writes to a full one has to wait.
final class Terminal {
  /// What a program is given to write to.
  let device: FileHandle

  private let source: any DispatchSourceRead
  private let queue = DispatchQueue(label: "terminal")
  private let received = Received()

  /// What was read. It is used on the queue only, so that nobody waits for its lock.
  private final class Received: Sendable {
    let bytes = Mutex<[UInt8]>([])

    /// Reads what there is, and does not wait for more.
    func readAll(from reader: Int32) {
      bytes.withLock { bytes in
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
          let count = read(reader, &buffer, buffer.count)
          if count <= 0 { break }
          bytes += buffer[..<count]
        }
      }
    }
  }

  private let reader: Int32

  init(columns: UInt16) throws {
    let reader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(reader >= 0)
    let name = try Self.unlockedDevice(of: reader)
    let device = open(name, O_RDWR | O_NOCTTY)
    try #require(device >= 0)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(device, UInt(TIOCSWINSZ), &size) == 0)
    // So that nobody ever waits in a read.
    try #require(fcntl(reader, F_SETFL, O_NONBLOCK) != -1)
    self.device = FileHandle(fileDescriptor: device, closeOnDealloc: true)
    self.reader = reader
    source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: queue)
    source.setEventHandler { [received] in received.readAll(from: reader) }
    source.setCancelHandler { close(reader) }
    source.resume()
  }

  deinit {
    source.cancel()
  }

  /// Everything that was written so far.
  func text() -> String {
    queue.sync {
      received.readAll(from: reader)
      return received.bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Lets the terminal's device be opened, and returns its path.
  private static func unlockedDevice(of reader: Int32) throws -> String {
    #if canImport(Darwin)
      try #require(grantpt(reader) == 0 && unlockpt(reader) == 0)
      return String(cString: try #require(ptsname(reader)))
    #else
      // Glibc's module hides the functions. These are TIOCSPTLCK and TIOCGPTN.
      var number: Int32 = 0
      try #require(ioctl(reader, 0x4004_5431, &number) == 0)
      try #require(ioctl(reader, 0x8004_5430, &number) == 0)
      return "/dev/pts/\(number)"
    #endif
  }
}
