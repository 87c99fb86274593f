/// The observers of one topic. It does not know the message type: see ``TopicHandler``.
@usableFromInline
final class TopicList: Sendable {
  @usableFromInline
  let clientList = ClientList(stride: WeakBox.stride(for: AnyObject.self), hasCompanions: true)

  let key: TopicKey

  /// Keeps the latest message; nil if the topic does not.
  let latest: LatestPost?

  private let message: TypeIdentity
  let office: PostOffice

  init(_ key: TopicKey, message: TypeIdentity, office: PostOffice) {
    self.key = key
    self.message = message
    self.office = office
    latest = key.keepsLatest ? LatestPost() : nil
  }

  var subject: DeliverySubject { .topic(key, message: message.type) }
}

// MARK: - Posting

extension TopicList {
  /// Posts a message. Returns the number of handlers that were called or will be.
  ///
  /// - Parameter content: Makes a copy of the message on the heap.
  @usableFromInline
  func post(
    _ message: ErasedMessage, isolation: (any Actor)?, from site: CallSite,
    content: () -> TopicContent
  ) -> Int {
    if clientList.isEmpty, latest == nil { return 0 }
    return office.post(
      Posting(to: clientList, from: site, isolation: isolation, keeper: latest),
      subject: { subject },
      call: { box in clientList.callHandler(in: box, message, on: .posting) },
      make: { cause, recurrences, trace in
        PostOf(
          content(), list: clientList, site: site, parent: cause, recurrences: recurrences,
          trace: trace)
      })
  }

  /// Like ``post(_:isolation:from:content:)``, and returns when every handler has run.
  nonisolated(nonsending) func postAndWait<Message: Sendable>(
    _ message: Message, from site: CallSite
  ) async -> Int {
    await office.postAndWait(
      Posting(to: clientList, from: site, isolation: #isolation, keeper: latest),
      subject: { subject }, TopicContent(message: message))
  }
}

/// A message posted to a topic.
///
/// Not generic, because the metadata of generic posts would have to be looked up for each post.
@usableFromInline
struct TopicContent: PostContent {
  let message: any Sendable

  @usableFromInline
  init(message: any Sendable) {
    self.message = message
  }

  func call(_ box: WeakBox, of clients: ClientList, on occasion: CallOccasion) -> CallOutcome {
    // Lends the value inside the existential, because opening passes it.
    ErasedMessage.lend(message) { message in clients.callHandler(in: box, message, on: occasion) }
  }

  func callAwaiting(
    _ registration: Registration, letter: UInt64, in clients: ClientList
  ) async {
    guard let (owner, observer) = clients.observer(of: registration),
      let (call, isLast) = observer.takeAwaited(letter: letter)
    else { return }
    await call(owner, message)
    if isLast { clients.remove(registration) }
  }
}

extension ClientList {
  @inline(__always)
  func callHandler(
    in box: WeakBox, _ message: ErasedMessage, on occasion: CallOccasion
  ) -> CallOutcome {
    guard let owner = box.load() else { return .dead }
    return box.withCompanion(as: TopicObserver.self) { observer in
      guard let reception = observer.takeUsual(on: occasion) else {
        return callUnusual(observer, of: owner, box.registration, message, on: occasion)
      }
      reception.call(owner, message)
      return .called
    } ?? .refused
  }

  @inline(never)
  private func callUnusual(
    _ observer: TopicObserver, of owner: AnyObject, _ registration: Registration,
    _ message: ErasedMessage, on occasion: CallOccasion
  ) -> CallOutcome {
    switch observer.take(registration, in: self, on: occasion) {
    case .called(let call, let isLast):
      call(owner, message)
      if isLast { remove(registration) }
      return .called
    case .awaited(let lane): return .awaits(lane)
    case .queued: return .queues(observer, registration)
    case .moved(let registration): return .moved(registration)
    case .refused: return .refused
    }
  }

  fileprivate func observer(of registration: Registration) -> (AnyObject, TopicObserver)? {
    defer { extendLifetime(self) }
    guard var walk = beginWalk(at: registration), let box = walk.next(), let owner = box.load(),
      let observer = box.companion as? TopicObserver
    else { return nil }
    return (owner, observer)
  }
}
