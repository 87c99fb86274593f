extension MulticastCenter {
  /// Who listens to what, now: every listener protocol with its clients, and every topic with its
  /// observers.
  ///
  /// Nothing is called but the `description` of the ids that observers gave. May be read from any
  /// thread; each list is looked at for itself, so that what others change meanwhile may be in one
  /// list and not in the next. As with ``MulticastDelegate/count``, each client is held for an instant,
  /// and one whose last owner lets go just then ends here.
  ///
  /// - Complexity: O(*n*) in the number of all clients and observers, and what it takes to sort the
  ///   topics of each type of message by their names.
  public var wiring: Wiring {
    Wiring(registries.all.compactMap { registry in (registry as? any DrawnRegistry)?.snapshot })
  }
}
