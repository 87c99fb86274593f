import Foundation
import Testing

/// A pseudo-terminal, and what is written to it.
final class Terminal {
  /// What a program is given to write to.
  let device: FileHandle
  private let reader: Int32

  init(columns: UInt16) throws {
    reader = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(reader >= 0)
    let name = try Self.unlockedDevice(of: reader)
    let device = open(name, O_RDWR | O_NOCTTY)
    try #require(device >= 0)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(device, UInt(TIOCSWINSZ), &size) == 0)
    // So that nobody ever waits in a read.
    try #require(fcntl(reader, F_SETFL, O_NONBLOCK) != -1)
    self.device = FileHandle(fileDescriptor: device, closeOnDealloc: true)
  }

  deinit {
    close(reader)
  }

  private var bytes: [UInt8] = []

  /// Everything that was written so far.
  func text() -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(reader, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
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
