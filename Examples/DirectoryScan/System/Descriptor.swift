import Foundation

/// An open file or folder, which is closed when this ends.
struct Descriptor: ~Copyable {
  let number: Int32

  private init(number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }

  /// Opens a file or a folder, however long its path is.
  ///
  /// A path that is too long for the system is opened in parts, each relative to the one before.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - flags: How to open it, as for `open(2)`.
  ///   - mode: The permissions of a file that is created.
  init(opening path: Path, _ flags: Int32, mode: mode_t = 0) throws(SystemError) {
    var rest = path.bytes[...]
    var folder: Descriptor?
    while rest.count >= Int(PATH_MAX) {
      let part = rest.prefix(Int(PATH_MAX) - 1)
      guard let end = part.lastIndex(of: Path.slash), end > rest.startIndex else {
        throw SystemError(code: ENAMETOOLONG)
      }
      folder = try Descriptor(rest[..<end], O_RDONLY | O_DIRECTORY, in: folder)
      rest = rest[end...].drop { $0 == Path.slash }
    }
    self = try Descriptor(rest, flags, mode: mode, in: folder)
  }

  private init(
    _ path: ArraySlice<UInt8>, _ flags: Int32, mode: mode_t = 0, in folder: borrowing Descriptor?
  ) throws(SystemError) {
    let base =
      switch folder {
      case .some(let folder): folder.number
      case .none: AT_FDCWD
      }
    number = try callSystem(with: path) { openat(base, $0, flags | O_CLOEXEC, mode) }
  }
}

extension Descriptor {
  /// Leaves it open, for somebody else to close.
  consuming func giveAway() {
    discard self
  }

  /// Fills the buffer from a place in the file on, as far as the file goes.
  ///
  /// - Returns: How many bytes were read: fewer than asked for at the end of the file alone.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = pread(number, rest.baseAddress, rest.count, off_t(offset + filled))
      if count == 0 { break }
      if count > 0 {
        filled += count
      } else if errno != EINTR {
        throw .last
      }
    }
    return filled
  }
}
