enum Event {
  case login(UInt)
  case logout
}

extension Event: CustomStringConvertible {
  /// The event as in a file.
  var description: String {
    switch self {
    case .login(let userID): "login \(userID)"
    case .logout: "logout"
    }
  }
}

extension Event {
  /// The error of a line, with a remedy.
  struct Malformed: Error {
    let problem: String
  }

  /// Reads an event from the words of a line, at least one.
  init(words: [Substring]) throws(Malformed) {
    switch (words[0], words.count) {
    case ("login", 2):
      self = .login(try Self.userID(words[1]))
    case ("login", 1):
      throw Malformed(problem: "login without a user id; write login <id>, as in login 19000")
    case ("login", _):
      throw Malformed(problem: "login with more than one user id; write a line for each login")
    case ("logout", 1):
      self = .logout
    case ("logout", _):
      throw Malformed(
        problem: "logout followed by \(Self.quoted(words[1])); write logout and nothing else")
    default:
      throw Malformed(
        problem: "unknown event \(Self.quoted(words[0])); write login <id> or logout")
    }
  }

  private static func userID(_ word: Substring) throws(Malformed) -> UInt {
    // The initializer would also accept a sign, as in +7 and -0.
    guard word.first?.isNumber == true, let userID = UInt(word) else {
      throw Malformed(
        problem: "\(quoted(word)) is not a user id; write a whole number from 0 to \(UInt.max)")
    }
    return userID
  }

  /// A word in quotation marks, with visible control characters.
  private static func quoted(_ word: Substring) -> String {
    String(word).debugDescription
  }
}
