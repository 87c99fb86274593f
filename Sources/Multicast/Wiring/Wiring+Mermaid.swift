extension Wiring {
  /// The wiring as a Mermaid flowchart, which GitHub draws in a `mermaid` block.
  ///
  /// Arrows lead from listener protocols (hexagons) and topics (stadiums) to the types that listen, in the
  /// order of the calls. Their labels show the number of neighbors that are equal, the home and the id. By
  /// default, Mermaid draws at most 500 arrows and 50,000 characters.
  ///
  /// - Complexity: O(*n*) for *n* clients and handlers.
  public var mermaid: String {
    var types: [String: String] = [:]
    var nodes = ""
    var arrows = ""
    func draw(_ list: List, _ id: String, _ open: String, _ close: String) {
      nodes += "  \(id)\(open)\"\(list.name.mermaid)\"\(close)\n"
      for group in list.listeners {
        let type = types[group.type] ?? "type\(types.count)"
        if types.updateValue(type, forKey: group.type) == nil {
          nodes += "  \(type)[\"\(group.type.mermaid)\"]\n"
        }
        let label = (group.count == 1 ? [] : ["× \(group.count)"]) + group.details
        arrows += "  \(id) -->|\"\(label.joined(separator: " · ").mermaid)\"| \(type)\n"
      }
    }
    for (index, list) in protocols.enumerated() { draw(list, "protocol\(index)", "{{", "}}") }
    for (index, list) in topics.enumerated() { draw(list, "topic\(index)", "([", "])") }
    return "flowchart LR\n" + nodes + arrows
  }
}

extension String {
  /// The text for a label in quotation marks. Each character that Mermaid might interpret becomes an entity.
  fileprivate var mermaid: String {
    printable.mapScalars { scalar in
      let isPlain =
        !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        || " .,:()".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "#\(scalar.value);"
    }
  }
}
