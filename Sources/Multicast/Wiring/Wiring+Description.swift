extension Wiring: CustomStringConvertible {
  /// The wiring as a tree with one protocol, topic, client or observer in each line, in aligned columns.
  public var description: String {
    if protocols.isEmpty, topics.isEmpty {
      return "MulticastCenter: no listener protocols, no topics"
    }
    let branches =
      protocols.map { listener in
        Branch(
          cells: [listener.name, counted(listener.count, "client")],
          leaves: listener.clients.map {
            [$0.type, $0.isolation.description, multiplied($0.count)]
          })
      }
      + topics.map { topic in
        Branch(
          cells: [topic.description, counted(topic.count, "observer")],
          leaves: topic.observers.map { observers in
            [
              observers.owner, observers.isolation.description, observers.idLabel ?? "",
              multiplied(observers.count),
            ]
          })
      }
    let waiting = waiting.map { backlog in
      let home = backlog.isolation.description.printable
      let time = backlog.time.map { ", for \($0)" } ?? ""
      return "waiting in \(home): \(counted(backlog.letters, "letter"))\(time)"
    }
    let tree = ["MulticastCenter"] + aligned(drawn(branches))
    return (tree + waiting).joined(separator: "\n")
  }
}

extension Wiring.ObservedTopic: CustomStringConvertible {
  /// The topic as source code: `Topic<UserLogin>("userLogin")`.
  public var description: String {
    DeliverySubject.topic(name, keepsLatest: keepsLatest, message: message)
  }
}

extension Wiring.Isolation: CustomStringConvertible {
  /// The isolation in a few words.
  public var description: String {
    switch self {
    case .postingThread: "posting thread"
    case .actor(let name): name
    case .queue(let label): label.isEmpty ? "queue" : "queue \(label)"
    case .task(nil): "task"
    case .task(let name?): "task in \(name)"
    }
  }
}

extension Wiring.ObserverGroup {
  /// The id as shown in pictures; nil if there is none.
  var idLabel: String? {
    id.map { id in "id " + (id.isEmpty ? "\"\"" : id) }
  }
}

// MARK: - Drawing

/// A line of the tree as table cells, with its lower lines.
private struct Branch {
  let cells: [String]
  let leaves: [[String]]
}

/// The lines of the tree. Each first cell begins with the connecting characters.
private func drawn(_ branches: [Branch]) -> [[String]] {
  connected(branches, \.cells) { branch, isLast in
    connected(branch.leaves, \.self) { _, _ in [] }
      .map { line in prefixed(line, with: isLast ? "   " : "│  ") }
  }
}

/// The lines of neighbours in the tree, each followed by its lower lines.
private func connected<Element>(
  _ elements: [Element], _ cells: (Element) -> [String],
  under: (Element, _ isLast: Bool) -> [[String]]
) -> [[String]] {
  elements.enumerated().flatMap { index, element in
    let isLast = index == elements.count - 1
    let line = prefixed(cells(element).map(\.printable), with: isLast ? "└─ " : "├─ ")
    return [line] + under(element, isLast)
  }
}

private func prefixed(_ line: [String], with prefix: String) -> [String] {
  [prefix + line[0]] + line.dropFirst()
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
      if !cell.isEmpty {
        line += String(repeating: " ", count: end - line.count) + cell
      }
      end += width + 2
    }
    return line
  }
}

func counted(_ count: Int, _ noun: String) -> String {
  switch count {
  case 0: "no \(noun)s"
  case 1: "1 \(noun)"
  default: "\(count) \(noun)s"
  }
}

private func multiplied(_ count: Int) -> String { count == 1 ? "" : "× \(count)" }
