extension Wiring {
  /// The wiring as a Mermaid flowchart, which GitHub draws in a `mermaid` block.
  ///
  /// Arrows lead from listener protocols (hexagons) and topics (stadiums) to the types that listen.
  /// They are labelled with the places in the order of the calls, the home and the id. By default, Mermaid draws at most
  /// 500 arrows and 50,000 characters.
  public var mermaid: String {
    let graph = Graph(self)
    return "flowchart LR\n"
      + graph.nodes.map { node in
        let (open, close) = [("{{", "}}"), ("([", "])"), ("[", "]")][node.kind.rawValue]
        return "  \(node.id)\(open)\"\(node.label.mermaid)\"\(close)\n"
      }.joined()
      + graph.edges.map { "  \($0.from) -->|\"\($0.label.mermaid)\"| \($0.to)\n" }.joined()
  }

  /// The wiring as a directed graph in Graphviz's DOT language.
  ///
  /// Arrows lead from listener protocols (hexagons) and topics (rounded boxes) to the types that
  /// listen. They are labelled with the places in the order of the calls, the home and the id. Graphviz reads no name of
  /// more than 16,384 bytes.
  public var dot: String {
    let graph = Graph(self)
    return "digraph MulticastCenter {\n  rankdir = LR\n"
      + graph.nodes.map { node in
        let shape = ["hexagon", "box, style = rounded", "box"][node.kind.rawValue]
        return "  \(node.id) [label = \"\(node.label.dot)\", shape = \(shape)]\n"
      }.joined()
      + graph.edges.map { "  \($0.from) -> \($0.to) [label = \"\($0.label.dot)\"]\n" }.joined()
      + "}\n"
  }
}

/// A wiring as a graph. Each type is one node, and equal edges between two nodes are one edge.
private struct Graph {
  enum Kind: Int { case listenerProtocol, topic, type }

  private(set) var nodes: [(id: String, kind: Kind, label: String)] = []
  private(set) var edges: [(from: String, to: String, label: String)] = []
  private var typeIDs: [String: String] = [:]

  init(_ wiring: Wiring) {
    for (index, list) in wiring.protocols.enumerated() {
      add(list, .listenerProtocol, "protocol\(index)")
    }
    for (index, list) in wiring.topics.enumerated() { add(list, .topic, "topic\(index)") }
  }

  /// Adds a list, and connects it to its listeners, in their order.
  private mutating func add(_ list: Wiring.List, _ kind: Kind, _ id: String) {
    nodes.append((id, kind, list.name))
    var distinct: [Wiring.Group] = []
    var places: [Wiring.Group: [Range<Int>]] = [:]
    var next = 1
    for group in list.listeners {
      let key = Wiring.Group(type: group.type, id: group.id, home: group.home, site: nil, count: 0)
      if places[key] == nil { distinct.append(key) }
      places[key, default: []].append(next..<next + group.count)
      next += group.count
    }
    for group in distinct {
      let label = [text(of: places[group] ?? [])] + group.details
      edges.append((id, node(for: group.type), label.joined(separator: " · ")))
    }
  }

  private mutating func node(for type: String) -> String {
    if let id = typeIDs[type] { return id }
    let id = "type\(typeIDs.count)"
    typeIDs[type] = id
    nodes.append((id, .type, type))
    return id
  }

  /// Places in the order of calls, counted from 1: as many as fit in a label.
  private func text(of places: [Range<Int>]) -> String {
    let shown = places.prefix(5).map { places in
      places.count == 1 ? "\(places.lowerBound)" : "\(places.lowerBound)–\(places.upperBound - 1)"
    }
    let count = places.reduce(0) { $0 + $1.count }
    return (shown + (places.count > 5 ? ["… (\(count) in all)"] : [])).joined(separator: ", ")
  }
}

extension String {
  /// The text for a quoted Mermaid string.
  ///
  /// Mermaid interprets parts of it as HTML, Markdown and its own language. So all but the plainest ASCII
  /// characters are written as numbers.
  fileprivate var mermaid: String {
    printable.unicodeScalars.map { scalar in
      let isPlain =
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " .,:()".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }.joined()
  }

  /// The text for a quoted Graphviz string, where Graphviz reads escapes and entities.
  fileprivate var dot: String {
    // By scalars, because a quotation mark with a combining mark still ends the string.
    printable.unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case "&": "&amp;"
      default: String(scalar)
      }
    }.joined()
  }
}
