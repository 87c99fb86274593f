import Foundation
import Testing

/// A pseudo-terminal. Somebody has to call ``text()`` again and again: a program that writes to a
/// full terminal waits.
///
/// Unchecked, because one thread at a time reads it: a test awaits the one that interrupts its program.
final class Terminal: @unchecked Sendable {
  /// What a program writes to.
  let device: FileHandle

  private let reader: FileHandle
  private var received: [UInt8] = []

  init(columns: UInt16) throws {
    let reader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
    try #require(reader >= 0)
    self.reader = FileHandle(fileDescriptor: reader, closeOnDealloc: true)
    #if canImport(Darwin)
      try #require(grantpt(reader) == 0 && unlockpt(reader) == 0)
      let name = String(cString: try #require(ptsname(reader)))
    #else
      // Glibc's module hides these functions. They ask for TIOCSPTLCK and TIOCGPTN.
      var number: Int32 = 0
      try #require(ioctl(reader, 0x4004_5431, &number) == 0)
      try #require(ioctl(reader, 0x8004_5430, &number) == 0)
      let name = "/dev/pts/\(number)"
    #endif
    let device = open(name, O_RDWR | O_NOCTTY)
    try #require(device >= 0)
    self.device = FileHandle(fileDescriptor: device, closeOnDealloc: true)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(device, UInt(TIOCSWINSZ), &size) == 0)
  }

  /// Everything that was written so far.
  @discardableResult
  func text() -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(reader.fileDescriptor, &buffer, buffer.count), count > 0 {
      received += buffer[..<count]
    }
    return String(decoding: received, as: UTF8.self)
  }
}
