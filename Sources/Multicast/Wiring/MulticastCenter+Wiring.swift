extension MulticastCenter {
  /// The listeners at this moment: every listener protocol with its clients, and every topic with its
  /// observers.
  ///
  /// Calls only the `description` of ids. Reads one list after the other, so a concurrent change may show in
  /// one list and not in the next. Holds each client for an instant, as ``MulticastDelegate/count`` does.
  ///
  /// - Complexity: O(*n*) in the number of clients and observers, and the time to sort topics by name.
  public var wiring: Wiring {
    Wiring(registries.all.compactMap { registry in (registry as? any DrawnRegistry)?.snapshot })
  }
}
