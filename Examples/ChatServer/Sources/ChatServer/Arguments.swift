/// What the command line says.
struct Arguments: Equatable {
  static let usage = """
    usage: ChatServer [--host <address>] [--port <number>] [--name <name>] [--rooms <name>,<name>…] [--nats <url>]

    Without --nats, one process serves all. With it, all processes of one nats-server form one chat.
    A port of 0 lets the system choose one.
    """

  var host = "127.0.0.1"
  var port = 8080
  var name: String?
  var rooms = ["lobby", "garden", "kitchen"]
  var nats: String?

  init(_ words: [String]) throws(UsageError) {
    var words = words[...]
    while let option = words.popFirst() {
      guard ["--host", "--port", "--name", "--rooms", "--nats"].contains(option) else {
        throw UsageError("There is no option \(option).")
      }
      guard let value = words.popFirst(), !value.isEmpty else {
        throw UsageError("\(option) needs a value.")
      }
      switch option {
      case "--host": host = value
      case "--name": name = value
      case "--nats": nats = value
      case "--port":
        guard let number = UInt16(value) else { throw UsageError("\(value) is no port.") }
        port = Int(number)
      default:
        rooms = value.split(separator: ",").map(String.init)
        guard !rooms.isEmpty,
          rooms.allSatisfy({ $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
        else { throw UsageError("Rooms have names of letters and digits.") }
      }
    }
  }
}

struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
