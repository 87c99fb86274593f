/// The observers of one topic. It does not know the message type: see ``TopicHandler``.
@usableFromInline
final class TopicList: Sendable {
  @usableFromInline
  let clientList = ClientList(stride: WeakBox.stride(for: AnyObject.self), hasCompanions: true)

  let name: String

  /// Keeps the latest message; nil if the topic does not.
  let keeper: Keeper?

  private let message: TypeIdentity
  let office: PostOffice

  /// The first use of the topic.
  let site: CallSite

  init(
    _ name: String, keepsLatest: Bool, message: TypeIdentity, office: PostOffice, site: CallSite
  ) {
    self.name = name
    self.message = message
    self.office = office
    self.site = site
    keeper = keepsLatest ? Keeper() : nil
  }

  var subject: DeliverySubject {
    .topic(name: name, keepsLatest: keeper != nil, message: message.type)
  }

  #if DEBUG
    /// Stops the program if a topic of the same name and message type disagrees on whether it keeps its latest.
    @usableFromInline
    func check(keepsLatest: Bool, from other: CallSite) {
      if keepsLatest == (keeper != nil) { return }
      fatalError(
        """
        Multicast: two topics with messages of type \(message.type) and the name \
        \(String(reflecting: name)) disagree: the one used at \(site) \
        \(keeper == nil ? "does not keep" : "keeps") its latest message, the one used at \(other) \
        \(keepsLatest ? "does" : "does not"). Declare the topic once, or give one of them another name.
        """, file: other.file, line: UInt(other.line))
    }
  #endif
}

// MARK: - Posting

extension TopicList {
  /// Posts a message. Returns the number of handlers that were called or will be; nil if the list is closed.
  ///
  /// - Parameter copy: Makes a copy of the message for the heap.
  @usableFromInline
  func post(
    _ message: ErasedMessage, isolation: (any Actor)?, from site: CallSite,
    copy: () -> any Sendable
  ) -> Int? {
    if clientList.isEmpty, keeper == nil { return 0 }
    return office.post(
      Posting(
        to: clientList, from: site, isolation: isolation.map { ObjectIdentifier($0) },
        keeper: keeper),
      subject: subject,
      call: { box, list in list.callHandler(in: box, message, as: nil) },
      make: { posting, origin in Self.makePost(posting, origin, copy()) })
  }

  /// Like ``post(_:isolation:from:copy:)``, and returns when every handler has run.
  nonisolated(nonsending) func postAndWait<Message: Sendable>(
    _ message: Message, from site: CallSite
  ) async -> Int? {
    await office.postAndWait(
      Posting(
        to: clientList, from: site, isolation: #isolation.map { ObjectIdentifier($0) },
        keeper: keeper),
      subject: subject,
      call: { box, list in
        ErasedMessage.lend(message) { list.callHandler(in: box, $0, as: nil) }
      },
      make: { posting, origin in Self.makePost(posting, origin, message) })
  }

  private static func makePost(
    _ posting: borrowing Posting, _ origin: Post.Origin, _ message: any Sendable
  ) -> Post {
    Post(
      posting, origin, message: message, call: TopicList.call, callAwaiting: TopicList.callAwaiting)
  }

  @Sendable
  private static func call(
    _ box: WeakBox, _ post: Post, _ addressee: Letter.Addressee?
  ) -> CallOutcome {
    // Lends the value inside the existential, because opening passes it.
    ErasedMessage.lend(post.message) { message in
      post.list.callHandler(in: box, message, as: addressee)
    }
  }

  @Sendable
  private static func callAwaiting(
    _ registration: Registration, _ post: Post, _ addressee: Letter.Addressee
  ) async {
    // Again if the handler is replaced before its actor comes to it.
    while let (owner, observer) = post.list.observer(of: registration),
      let (call, version) = observer.awaitingCall
    {
      // A removal ends the registration, which ends no handler.
      let isDue = { @Sendable in
        post.list.companion(of: registration) != nil
          && observer.takeAwaited(addressee, version: version)
      }
      guard await call(owner, post.message, isDue) else { continue }
      if !observer.isActive { post.list.remove(registration) }
      return
    }
  }
}

extension ClientList {
  @inline(__always)
  func callHandler(
    in box: WeakBox, _ message: ErasedMessage, as addressee: Letter.Addressee?
  ) -> CallOutcome {
    guard let owner = box.load() else { return .dead }
    return box.withCompanion(as: TopicObserver.self) { observer in
      guard let reception = observer.take(addressee) else {
        return callPerhapsLast(observer, of: owner, box.registration, message, as: addressee)
      }
      reception.call(owner, message)
      return .called
    } ?? .skipped
  }

  @inline(never)
  private func callPerhapsLast(
    _ observer: TopicObserver, of owner: AnyObject, _ registration: Registration,
    _ message: ErasedMessage, as addressee: Letter.Addressee?
  ) -> CallOutcome {
    guard let (reception, isLast) = observer.takePerhapsLast(addressee) else { return .skipped }
    reception.call(owner, message)
    if isLast { remove(registration) }
    return .called
  }

  fileprivate func observer(of registration: Registration) -> (AnyObject, TopicObserver)? {
    defer { extendLifetime(self) }
    guard var walk = beginWalk(at: registration), let box = walk.next(), let owner = box.load(),
      let observer = box.companion as? TopicObserver
    else { return nil }
    return (owner, observer)
  }
}
