extension Wiring {
  /// The wiring as a Mermaid flowchart, which GitHub draws in a `mermaid` block.
  ///
  /// Arrows lead from listener protocols (hexagons) and topics (stadiums) to the types that listen.
  /// They are labelled with the places in the order of the calls, and arrows from topics also with
  /// the isolation and the id. By default, Mermaid draws at most 500 arrows and 50,000 characters.
  public var mermaid: String {
    let graph = WiringGraph(self)
    var lines = ["flowchart LR"]
    for node in graph.nodes {
      let (open, close) =
        switch node.kind {
        case .listenerProtocol: ("{{", "}}")
        case .topic: ("([", "])")
        case .type: ("[", "]")
        }
      lines.append("  \(node.id)\(open)\"\(node.label.mermaid)\"\(close)")
    }
    for edge in graph.edges {
      lines.append("  \(edge.from) -->|\"\(edge.label.mermaid)\"| \(edge.to)")
    }
    return lines.map { $0 + "\n" }.joined()
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
}
