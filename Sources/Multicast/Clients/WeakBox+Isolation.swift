#if DEBUG
  extension WeakBox {
    /// Stops the program when a client that was added in an actor is called outside of it.
    ///
    /// The compiler cannot see this mistake: the client came in through `add`, in one isolation, and
    /// goes out through a notify, in another. What counts is where the program runs, not what is
    /// written there, so that a helper that notifies inside the actor is right without saying so.
    @usableFromInline
    func checkIsolation(of client: @autoclosure () -> Any, as listener: Any.Type) {
      guard let home = (group?.subject as? Home)?.actor, home.isCurrent == false else { return }
      fatalError(
        """
        Multicast: a client of type \(type(of: client())) was added for \(listener) inside the actor \
        \(home) and is notified outside of it. \(listener) was not known to be Sendable where it was \
        added, so its clients may be called only there. Notify inside \(type(of: home)), or make \
        \(listener) Sendable or isolate it to a global actor. (A generic function that adds clients \
        knows it where its listener type is constrained to Sendable.)
        """)
    }
  }
#endif
