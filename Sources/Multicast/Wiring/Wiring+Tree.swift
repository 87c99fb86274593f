extension Wiring: CustomStringConvertible {
  /// The wiring as a tree with one protocol, topic, client or observer in each line, in aligned columns.
  public var description: String {
    let lists = protocols.map { ($0, "client") } + topics.map { ($0, "observer") }
    if lists.isEmpty { return "MulticastCenter: no listener protocols, no topics" }
    var rows: [[String]] = []
    for (index, (list, noun)) in lists.enumerated() {
      let isLast = index == lists.count - 1
      rows.append([(isLast ? "└─ " : "├─ ") + list.name.printable, counted(list.count, noun)])
      for (index, group) in list.listeners.enumerated() {
        let branch = (isLast ? "   " : "│  ") + (index == list.listeners.count - 1 ? "└─ " : "├─ ")
        let id = noun == "observer" ? [group.details.dropFirst().first ?? ""] : []
        let count = group.count == 1 ? "" : "× \(group.count)"
        let site = group.site.map { ["\($0)"] } ?? []
        let texts = ([group.type, group.home] + id + [count] + site).map(\.printable)
        rows.append([branch + texts[0]] + texts.dropFirst())
      }
    }
    let waiting = waiting.map { backlog in
      let time = backlog.nanoseconds.map { ", for \(DeliveryEvent.text($0))" } ?? ""
      return "waiting in \(backlog.home.printable): \(counted(backlog.letters, "letter"))\(time)"
    }
    return (["MulticastCenter"] + aligned(rows) + waiting).joined(separator: "\n")
  }
}

private func aligned(_ rows: [[String]]) -> [String] {
  var widths: [Int] = []
  for row in rows {
    for (column, cell) in row.enumerated() {
      if column == widths.count { widths.append(0) }
      widths[column] = max(widths[column], cell.count)
    }
  }
  return rows.map { row in
    var line = ""
    var end = 0
    for (cell, width) in zip(row, widths) {
      if !cell.isEmpty { line += String(repeating: " ", count: end - line.count) + cell }
      end += width + 2
    }
    return line
  }
}

func counted(_ count: Int, _ noun: String) -> String {
  "\(count == 0 ? "no" : "\(count)") \(noun)\(count == 1 ? "" : "s")"
}
