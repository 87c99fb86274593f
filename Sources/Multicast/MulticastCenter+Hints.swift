#if DEBUG
  extension MulticastCenter {
    /// Prints a hint if a listener protocol has no clients, but an object that conforms to it was added for a class instead.
    @usableFromInline
    func hintAtClasses<Listener>(insteadOf listener: Listener.Type, from site: CallSite) {
      if withDelegate(for: listener, { $0.clientList.isEmpty }) == false { return }
      // A program may notify without clients very often, and the search reads every list and loads clients. So it is made only
      // until a hint has been printed for the call site.
      if StandardError.hasHinted(at: site) { return }
      for list in registries.all.lazy.compactMap(\.delegateList) {
        guard case .listener(let key) = list.subject, key is AnyClass, key != listener,
          let client = list.boxes.first(where: { $0.mayBeLoaded })?.load(), client is Listener
        else { continue }
        StandardError.hint(
          at: site,
          """
          nobody hears \(listener), called at \(site), but \(type(of: client)) was added for the class \(key). To be called for \
          the protocol, it is added for that: add(client, for: \(listener).self).
          """)
      }
    }
  }
#endif
