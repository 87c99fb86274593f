import Foundation

enum Event: CustomStringConvertible {
  case login(UInt)
  case logout

  /// The event as in a file.
  var description: String {
    switch self {
    case .login(let userID): "login \(userID)"
    case .logout: "logout"
    }
  }
}

// MARK: - Reading

extension Event {
  /// Reads an event from the words of a line, at least one.
  ///
  /// - Parameter line: The line's file and number, for errors.
  init(words: [Substring], at line: String) throws(UserError) {
    let problem: String
    switch (words[0], words.count) {
    case ("login", 2):
      // The initializer would also accept a sign, as in +7 and -0.
      if words[1].first?.isNumber == true, let userID = UInt(words[1]) {
        self = .login(userID)
        return
      }
      let word = String(words[1]).debugDescription
      problem = "\(word) is not a user id; write a whole number from 0 to \(UInt.max)"
    case ("login", 1):
      problem = "login without a user id; write login <id>, as in login 19000"
    case ("login", _):
      problem = "login with more than one user id; write a line for each login"
    case ("logout", 1):
      self = .logout
      return
    case ("logout", _):
      let word = String(words[1]).debugDescription
      problem = "logout followed by \(word); write logout and nothing else"
    default:
      let word = String(words[0]).debugDescription
      problem = "unknown event \(word); write login <id> or logout"
    }
    throw UserError("\(line): error: \(problem)")
  }

  /// Reads a file, or standard input for nil: UTF-8 text with one event in each line.
  ///
  /// Lines end in LF or CRLF; the last one need not end. Blank lines are skipped. Spaces and tabs may
  /// surround words. There are no comments.
  static func all(in path: String?) throws(UserError) -> [Event] {
    var events: [Event] = []
    let lines = try bytes(of: path).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let location = "\(path ?? "standard input"):\(index + 1)"
      // A carriage return is part of the line's end.
      let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard let text = String(data: content, encoding: .utf8) else {
        throw UserError("\(location): error: not valid UTF-8; save the file as text in UTF-8")
      }
      let words = text.split { $0 == " " || $0 == "\t" }
      if !words.isEmpty { events.append(try Event(words: words, at: location)) }
    }
    return events
  }

  /// Reads all bytes. Unlike `Data(contentsOf:)`, this reads pipes, too.
  private static func bytes(of path: String?) throws(UserError) -> Data {
    let file = path.map { open($0, O_RDONLY) } ?? STDIN_FILENO
    defer { if file > STDIN_FILENO { close(file) } }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var count = file < 0 ? -1 : read(file, &buffer, buffer.count)
    while count > 0 {
      data += buffer[..<count]
      count = read(file, &buffer, buffer.count)
    }
    if count == 0 { return data }
    let reason = String(cString: strerror(errno))
    throw UserError("\(path ?? "standard input"): error: cannot be read (\(reason))")
  }
}
