extension Wiring {
  /// The wiring as a directed graph in Graphviz's DOT language.
  ///
  /// Arrows lead from listener protocols (hexagons) and topics (rounded boxes) to the types that
  /// listen. They are labelled with the places in the order of the calls, and arrows from topics
  /// also with the isolation and the id. Graphviz reads no name of more than 16,384 bytes.
  public var dot: String {
    let graph = WiringGraph(self)
    var lines = ["digraph MulticastCenter {", "  rankdir = LR"]
    for node in graph.nodes {
      let shape =
        switch node.kind {
        case .listenerProtocol: "shape = hexagon"
        case .topic: "shape = box, style = rounded"
        case .type: "shape = box"
        }
      lines.append("  \(node.id) [label = \"\(node.label.dot)\", \(shape)]")
    }
    for edge in graph.edges {
      lines.append("  \(edge.from) -> \(edge.to) [label = \"\(edge.label.dot)\"]")
    }
    lines.append("}")
    return lines.map { $0 + "\n" }.joined()
  }
}

extension String {
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
