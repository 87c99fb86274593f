import Foundation

/// Where text goes.
enum Output: Equatable {
  case standardOutput
  case standardError
  /// A file, which is created, or replaced.
  case file(Path)

  /// Writes all of a text, or as much as is read if this is a pipe that nobody reads any more.
  func write(_ text: some Sequence<UInt8>) throws(SystemError) {
    switch self {
    case .standardOutput:
      try Self.write(Array(text), to: STDOUT_FILENO)
    case .standardError:
      try Self.write(Array(text), to: STDERR_FILENO)
    case .file(let path):
      let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
      try Self.write(Array(text), to: file.number)
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 {
        written += count
      } else if errno == EPIPE {
        // As after `| head`: whoever reads has read enough.
        return
      } else if errno != EINTR {
        throw .last
      }
    }
  }
}

extension Output: CustomStringConvertible {
  var description: String {
    switch self {
    case .standardOutput: "standard output"
    case .standardError: "standard error"
    case .file(let path): path.description
    }
  }
}
