import Foundation

/// A source of events: UTF-8 text with one event in each line, `login <id>` or `logout`.
///
/// Lines end in LF or CRLF; the last one need not end. Blank lines are skipped. Spaces and tabs may
/// surround words. There are no comments.
enum EventSource {
  case file(String)
  case standardInput
}

extension EventSource: CustomStringConvertible {
  /// The name for messages.
  var description: String {
    switch self {
    case .file(let path): path
    case .standardInput: "standard input"
    }
  }
}

extension EventSource {
  /// Reads all events, or throws.
  func read() throws(InputError) -> [Event] {
    var events: [Event] = []
    let lines = try bytes().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      // A carriage return is part of the line's end.
      let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard let text = String(validating: content, as: UTF8.self) else {
        throw InputError(
          source: self, line: index + 1,
          problem: "not valid UTF-8; save the file as text in UTF-8")
      }
      let words = text.split { $0 == " " || $0 == "\t" }
      if words.isEmpty { continue }
      do throws(Event.Malformed) {
        events.append(try Event(words: words))
      } catch {
        throw InputError(source: self, line: index + 1, problem: error.problem)
      }
    }
    return events
  }

  /// The content without a byte order mark.
  private func bytes() throws(InputError) -> Data {
    do {
      let content = try handle().readToEnd() ?? Data()
      // Some editors begin a file with an invisible mark.
      let mark = Data("\u{FEFF}".utf8)
      return content.starts(with: mark) ? content.dropFirst(mark.count) : content
    } catch {
      throw InputError(
        source: self,
        problem: "cannot be read (\(Self.reason(for: error))); check that it exists, "
          + "that it is a file and that you may read it")
    }
  }

  // Unlike `Data(contentsOf:)`, a file handle reads pipes, too.
  private func handle() throws -> FileHandle {
    switch self {
    case .file(let path): try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    case .standardInput: .standardInput
    }
  }

  /// The system's message, which says more than Foundation's.
  private static func reason(for error: any Error) -> String {
    let error = error as NSError
    guard let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError,
      cause.domain == NSPOSIXErrorDomain
    else { return error.localizedDescription }
    return String(cString: strerror(Int32(cause.code)))
  }
}
