/// A wiring as a graph. Each type is one node, and equal edges between two nodes are one edge.
struct WiringGraph {
  enum Kind {
    case listenerProtocol
    case topic
    case type
  }

  struct Node {
    let id: String
    let kind: Kind
    let label: String
  }

  struct Edge {
    let from: String
    let to: String
    let label: String
  }

  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  private var typeIDs: [String: String] = [:]

  init(_ wiring: Wiring) {
    for (index, listener) in wiring.protocols.enumerated() {
      let id = add(.listenerProtocol, id: "protocol\(index)", label: listener.name)
      let clients = listener.clients.map {
        (Listener(type: $0.type, details: [$0.isolation.description]), $0.count)
      }
      connect(id, to: clients)
    }
    for (index, topic) in wiring.topics.enumerated() {
      let id = add(.topic, id: "topic\(index)", label: topic.description)
      let observers = topic.observers.map { observers in
        let details = [observers.isolation.description, observers.idLabel].compactMap(\.self)
        return (Listener(type: observers.owner, details: details), observers.count)
      }
      connect(id, to: observers)
    }
  }

  private mutating func add(_ kind: Kind, id: String, label: String) -> String {
    nodes.append(Node(id: id, kind: kind, label: label))
    return id
  }

  private struct Listener: Hashable {
    let type: String
    let details: [String]
  }

  /// Connects a node to its listeners, in their order.
  private mutating func connect(_ source: String, to listeners: [(Listener, count: Int)]) {
    var distinct: [Listener] = []
    var places: [Listener: Places] = [:]
    var next = 1
    for (listener, count) in listeners {
      if places[listener] == nil { distinct.append(listener) }
      places[listener, default: Places()].append(next..<next + count)
      next += count
    }
    for listener in distinct {
      let label = [places[listener, default: Places()].description] + listener.details
      edges.append(
        Edge(from: source, to: node(for: listener.type), label: label.joined(separator: " · ")))
    }
  }

  private mutating func node(for type: String) -> String {
    if let id = typeIDs[type] { return id }
    let id = add(.type, id: "type\(typeIDs.count)", label: type)
    typeIDs[type] = id
    return id
  }
}

/// Places in the order of calls, counted from 1.
private struct Places {
  /// As many as fit in a label.
  private var first: [Range<Int>] = []
  private var count = 0

  mutating func append(_ places: Range<Int>) {
    if first.count < 5 { first.append(places) }
    count += places.count
  }

  var description: String {
    var parts = first.map { places in
      places.count == 1 ? "\(places.lowerBound)" : "\(places.lowerBound)–\(places.upperBound - 1)"
    }
    let shown = first.reduce(0) { $0 + $1.count }
    if shown < count { parts.append("… (\(count) in all)") }
    return parts.joined(separator: ", ")
  }
}
