/// A client's registration. It keeps nothing alive.
///
/// A list never reuses a number. An identity may be reused and only serves the lookup.
@usableFromInline
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

  /// Vacates the boxes of a home's deallocated clients. Called with no lock held, because it retains live
  /// clients for an instant and may release them last.
  func vacateDead(at mailbox: AnyObject & Sendable) {
    defer { extendLifetime(self) }
    var walk = beginWalk(at: mailbox)
    walk.forEach { box in box.load() == nil ? .dead : .skipped }
  }

  /// The registration of a companion; nil if it has ended. Another lock may be held.
  func registration(of companion: Companion, owner: AnyObject) -> Registration? {
    let key = ClientKey(ObjectIdentifier(owner)) { box in box.hasCompanion(companion) }
    return state.withLock { state in state.current.find(key)?.registration }
  }

  func companion(of registration: Registration) -> Companion? {
    state.withLock { state in state.current.find(ClientKey(registration))?.companion }
  }

  /// Removes a registration. `body` receives the box before, with the lock held.
  func remove(_ registration: Registration, _ body: (WeakBox) -> Void = { _ in }) {
    remove(ClientKey(registration), body)
  }
}
