extension MulticastCenter: CustomStringConvertible {
  /// The listener protocols and topics in one line, with the numbers of their listeners: `MulticastCenter:
  /// UserProtocol 2 clients, Topic<UserLogin>("userLogin") 1 observer`.
  ///
  /// ``wiring`` has the clients and observers, too.
  ///
  /// - Complexity: O(*n*) in the number of clients and observers.
  public var description: String {
    let wiring = wiring
    let keys =
      wiring.protocols.map { "\($0.name) \(counted($0.count, "client"))" }
      + wiring.topics.map { "\($0) \(counted($0.count, "observer"))" }
    return keys.isEmpty
      ? "MulticastCenter: no listener protocols, no topics"
      : "MulticastCenter: " + keys.map(\.printable).joined(separator: ", ")
  }
}

extension MulticastDelegate: CustomStringConvertible {
  /// The listener protocol and the number of its clients: `MulticastDelegate<UserProtocol>: 2 clients`.
  ///
  /// - Complexity: O(*n*).
  public var description: String {
    "MulticastDelegate<\(Listener.self)>: \(counted(count, "client"))"
  }
}
