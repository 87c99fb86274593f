import Multicast

/// The letters of a run in the order in which they were handled.
struct LetterJournal {
  private struct Entry {
    let pass: UInt64
    let text: String
    var clients: [String] = []
  }

  private var entries: [Entry] = []

  /// The messages of topics as text, by the numbers of their deliveries.
  private var messages: [UInt64: String] = [:]

  /// One line for each letter: the message, the call site of the post, the home, and the listeners that were called.
  var lines: [String] {
    entries.enumerated().map { number, entry in
      let clients = entry.clients.isEmpty ? "no listener" : entry.clients.joined(separator: ", ")
      return "\(number + 1). \(entry.text): \(clients)"
    }
  }

  /// Notes the message of a delivery before its letter is handled.
  mutating func note(_ message: String, of delivery: UInt64) {
    messages[delivery] = message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// Adds a letter when its pass begins, and each listener that the pass calls.
  mutating func observe(_ event: DeliveryEvent) {
    guard let home = event.home else { return }
    switch event.phase {
    case .began:
      let message = messages[event.delivery].map { " \($0)" } ?? ""
      entries.append(
        Entry(
          pass: event.pass, text: "\(event.key)\(message), posted at \(event.site), in \(home)"))
    case .called(let client, _):
      if let index = entries.lastIndex(where: { $0.pass == event.pass }) {
        entries[index].clients.append("\(client)")
      }
    case .left, .ended, .refused: break
    }
  }
}
