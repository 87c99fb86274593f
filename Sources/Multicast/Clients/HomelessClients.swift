#if DEBUG
  /// The clients that were added on the main thread without a home, until a message tells of them.
  struct HomelessClients: ~Copyable {
    /// More are not kept. Clients that end are not taken out.
    private static var capacity: Int { 10_000 }

    /// Where each registration was made, by its number.
    private let places = Locked<[UInt64: String]>([:])
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func note(_ number: UInt64, at place: String) {
      places.withLock { places in
        if places.count < Self.capacity { places[number] = place }
        count.store(places.count, ordering: .relaxed)
      }
    }

    func take(_ number: UInt64) -> String? {
      places.withLock { places in
        defer { count.store(places.count, ordering: .relaxed) }
        return places.removeValue(forKey: number)
      }
    }
  }

  extension ClientList {
    /// The number of a client's registration.
    func number(of client: AnyObject) -> UInt64? {
      state.withLock { state in state.current.find(ClientKey(client))?.number }
    }
  }
#endif
