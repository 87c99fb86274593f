import Foundation

/// The content of a file that was found, opened to be compared with others.
struct Content: ~Copyable {
  private let file: File
  private let descriptor: Descriptor
  private let buffer: UnsafeMutableRawBufferPointer

  /// How much of a file is read in one task: little enough for progress to show and for an
  /// interruption to be heard.
  static let slice = 16 << 20

  /// How much is read at a time.
  private static let bufferSize = 256 << 10

  /// Opens a file, if it is the one that was found, and of the same size.
  init(of file: File) throws(ContentError) {
    do throws(SystemError) {
      // Something else that stands there by now is not waited for, and a link not followed.
      let descriptor = try Descriptor(opening: file.path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
      let status = try Status(of: descriptor.number)
      if status.kind == .file, status.id == file.id, status.bytes == file.bytes {
        self.file = file
        self.descriptor = descriptor
        buffer = .allocate(byteCount: min(file.bytes, Self.bufferSize), alignment: 16)
        return
      }
    } catch {
      throw ContentError(file: file, cause: error)
    }
    throw ContentError(file: file, cause: nil)
  }

  deinit {
    buffer.deallocate()
  }

  /// Reads a part of the content, and calls `body` with it. Files of equal size have equal parts.
  ///
  /// - Parameters:
  ///   - range: What is to be read, as much of it as is read at a time.
  ///   - body: Is called with the bytes, which it must not keep.
  func withPart<Result>(
    of range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(ContentError) -> Result
  ) throws(ContentError) -> Result {
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.count))
    let count: Int
    do throws(SystemError) {
      count = try descriptor.read(into: part, at: range.lowerBound)
    } catch {
      throw ContentError(file: file, cause: error)
    }
    guard count == part.count else { throw ContentError(file: file, cause: nil) }
    return try body(UnsafeRawBufferPointer(part))
  }
}
