/// A client's registration. It keeps nothing alive.
///
/// A list never reuses a number. An identity may be reused and only serves the lookup.
struct Registration: Hashable, Sendable {
  let identity: UInt
  let number: UInt64
}

extension WeakBox {
  var registration: Registration { Registration(identity: identity, number: number) }
}

extension ClientKey {
  init(_ registration: Registration) {
    self.init(identity: registration.identity) { box in box.number == registration.number }
  }
}

extension ClientList {
  /// The number of the next registration, the number of registrations including deallocated clients, and the
  /// number of replacements.
  var moment: (limit: UInt64, count: Int, moves: Int) {
    state.withLock { state in
      (state.nextNumber, state.current.count - state.current.vacant, state.moves.count)
    }
  }

  /// Begins a walk over the box of one registration; nil if it has ended.
  func beginWalk(at registration: Registration) -> Walk? {
    state.withLock { state in
      guard let box = state.current.find(ClientKey(registration)) else { return nil }
      state.current.beginWalk()
      return unsafe Walk(
        over: BoxCursor(first: box, last: box, stride: stride), of: self,
        counters: state.current.counters, limit: state.nextNumber)
    }
  }

  func client<Listener>(
    of registration: Registration, as listener: Listener.Type
  ) -> (listener: Listener, object: AnyObject)? {
    defer { extendLifetime(self) }
    guard var walk = beginWalk(at: registration), let box = walk.next(), let object = box.load()
    else { return nil }
    return unsafe (box.bits(as: listener).pointee.borrow { $0 }, object)
  }

  /// Vacates the boxes of deallocated clients in a group. Called with no lock held, because it retains live
  /// clients for an instant and may release them last.
  func vacateDead(in subject: AnyObject & Sendable) {
    defer { extendLifetime(self) }
    var walk = beginWalk(inGroupOf: subject)
    while let box = walk.next() {
      if box.load() == nil { walk.noteDead(box) }
    }
  }

  func companion(of registration: Registration) -> Companion? {
    state.withLock { state in state.current.find(ClientKey(registration))?.companion }
  }

  /// Removes a registration. `body` receives the box before, with the lock held.
  func remove(_ registration: Registration, _ body: (WeakBox) -> Void = { _ in }) {
    remove(ClientKey(registration), body)
  }

  func registration(of companion: Companion, owner: ObjectIdentifier) -> Registration? {
    state.withLock { state in
      state.current.find(ClientKey(owner) { box in box.hasCompanion(companion) })?.registration
    }
  }
}
