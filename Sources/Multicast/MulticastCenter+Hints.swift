// The messages of a debug build about calls that reach no listener.
//
// A program may make such calls very often and rightly, so a hint needs evidence of a mistake:
//
// - A client was added for its own class, and conforms to the protocol that is called.
// - A client was added for a protocol that inherits from the one that is called, or from which that one inherits, and conforms
//   to both. That it conforms to both would not be enough: a screen may be a client of several protocols, and of some of them
//   only while it is visible.
// - A program that has made one center also uses the default one. Nothing was ever registered with the one that is called, and a
//   listener is registered with the other. A program with more centers, such as one for each document, window or test, may well
//   call one whose listeners are not there yet.
// - A topic has almost the same name: see TopicHints.swift.

#if DEBUG
  extension MulticastCenter {
    /// Prints a hint if a listener protocol has no clients because of a mistake that is known.
    @usableFromInline
    func hintAtUnheard<Listener>(_ listener: Listener.Type, from site: CallSite) {
      // A protocol that had clients may rightly have none now.
      if unsafe findDelegate(for: listener) != nil { return }
      // The search reads every list and loads clients.
      if !StandardError.mayExamine(at: site) { return }
      if let reason = otherKey(than: listener) {
        StandardError.hint(
          at: site,
          """
          no client is registered for \(listener), called at \(site), but \(reason). A client is called for exactly the keys \
          for which it is added: add(client, for: \(listener).self).
          """)
      } else {
        hintAtOtherCenter(insteadOf: "client is registered for \(listener), called", from: site) {
          other in
          other.withDelegate(for: listener) { $0.clientList.anyListener } ?? nil
        }
      }
    }

    /// Names a client that was added for another key than a listener protocol, and belongs to the protocol.
    private func otherKey<Listener>(than listener: Listener.Type) -> String? {
      let called = RuntimeProtocol(Listener.self)
      for list in registries.all.flatMap(\.lists) {
        guard case .listener(let key) = list.subject, key != Listener.self else { continue }
        var relation = ""
        if key is AnyClass {
          relation = "the class \(key)"
        } else if let called, let other = RuntimeProtocol(key) {
          if other.inherits(from: called) {
            relation = "\(key), which inherits from it"
          } else if called.inherits(from: other) {
            relation = "\(key), from which it inherits"
          }
        }
        if relation.isEmpty { continue }
        let clients = list.boxes.lazy.filter(\.mayBeLoaded).compactMap { $0.load() }
        if let client = clients.first(where: { $0 is Listener }) {
          return "\(type(of: client)) was added for \(relation)"
        }
      }
      return nil
    }

    /// Prints a hint if the program has made two centers, nothing was ever registered with this one, and the other one has a
    /// listener.
    ///
    /// - Parameters:
    ///   - what: What this center lacks, and what the caller did.
    ///   - find: Returns the type of a listener of the other center.
    func hintAtOtherCenter(
      insteadOf what: String, from site: CallSite,
      _ find: (MulticastCenter) -> (any Any.Type)?
    ) {
      guard registries.all.isEmpty, let other = CenterReference.other(than: self),
        let type = find(other)
      else { return }
      let name =
        self === MulticastCenter.default ? "MulticastCenter.default" : "a center of its own"
      StandardError.hint(
        at: site,
        """
        no \(what) at \(site). The call used \(name), with which nothing was ever registered. \(type) is registered with \
        another center. Register and call with the same center.
        """)
    }
  }

  extension ClientList {
    /// The type of the first listener that may be alive.
    var anyListener: (any Any.Type)? { boxes.first { $0.mayBeAlive }?.shownType }
  }

  /// A center that the program has made, held weakly.
  struct CenterReference: Sendable {
    private weak var center: MulticastCenter?

    /// The first three centers. Three are too many for a hint, so more are not needed.
    private static let first = Locked<[CenterReference]>([])

    static func note(_ center: MulticastCenter) {
      first.withLock { centers in
        if centers.count < 3 { centers.append(CenterReference(center: center)) }
      }
    }

    /// The other one of two centers, of which one is the default one; nil if the program has made more.
    static func other(than center: MulticastCenter) -> MulticastCenter? {
      // Makes the default center if it was not in use, before the lock is taken.
      let isDefault = center === MulticastCenter.default
      let centers = first.withLock { $0 }
      if centers.count != 2 { return nil }
      return isDefault
        ? centers.lazy.compactMap(\.center).first { $0 !== center } : MulticastCenter.default
    }
  }
#endif
