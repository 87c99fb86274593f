extension Wiring: CustomStringConvertible {
  /// The wiring as indented text, with one protocol, topic, client or handler in each line.
  ///
  /// - Complexity: O(*n*) for *n* clients and handlers.
  public var description: String {
    let isInUse = !protocols.isEmpty || !topics.isEmpty || !waiting.isEmpty
    var lines = [isInUse ? "MulticastCenter" : "MulticastCenter: not in use"]
    for (list, noun) in protocols.map({ ($0, "client") }) + topics.map({ ($0, "handler") }) {
      lines.append("  \(list.name): \(counted(list.count, noun))")
      for group in list.listeners {
        let count = group.count == 1 ? [] : ["× \(group.count)"]
        let site = group.site.map { ["\($0)"] } ?? []
        lines.append("    " + ([group.type] + group.details + count + site).joined(separator: ", "))
      }
    }
    for backlog in waiting {
      let time = backlog.nanoseconds.map { ", for \(DeliveryEvent.text($0))" } ?? ""
      lines.append("  waiting in \(backlog.home): \(counted(backlog.letters, "letter"))\(time)")
    }
    return lines.map(\.printable).joined(separator: "\n")
  }
}

/// The number and the noun, in the singular or the plural: `no clients`, `1 client`, `2 clients`.
func counted(_ count: Int, _ noun: String) -> String {
  "\(count == 0 ? "no" : "\(count)") \(noun)\(count == 1 ? "" : "s")"
}
