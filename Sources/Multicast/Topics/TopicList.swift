/// The handlers of one topic. A list does not know the message type: see ``Handler``.
///
/// `@unchecked`, because the superclass is. The properties that it adds are constant and `Sendable`.
@usableFromInline
final class TopicList: ClientList, @unchecked Sendable {
  let name: String

  /// Stores the latest message; nil for a topic that does not keep it.
  @usableFromInline let latestStore: LatestStore?

  let office: PostOffice

  /// The call site of the first use of the topic.
  let site: CallSite

  #if DEBUG
    /// Whether a message was ever posted to the topic.
    @usableFromInline let isPosted = Atomic<Bool>(false)
  #endif

  init<Message>(_ topic: Topic<Message>, office: PostOffice, site: CallSite) {
    name = topic.name
    self.office = office
    self.site = site
    latestStore = topic.keepsLatest ? LatestStore() : nil
    super.init(
      .topic(name: topic.name, keepsLatest: topic.keepsLatest, message: Message.self),
      isReported: office.isReported)
  }

  #if DEBUG
    deinit { reportLeaks() }
  #endif

  /// Whether a post has an effect, because there are handlers, the topic keeps its latest message, or the post is reported.
  @inlinable var takesPosts: Bool { !isSilent || latestStore != nil }

  /// The post of the latest message; nil if none is stored. Call this without the office's lock, and release the post without
  /// it.
  var latestPost: Post? {
    latestStore.flatMap { store in office.withLock { state in store.storedPost(&state) } }
  }

  /// Removes the latest message, and withdraws the posts of this thread that still wait to be stored. Returns the removed post:
  /// release it with no lock held.
  func removeLatest() -> Post? {
    latestStore.flatMap { store in office.withLock { state in store.removeLatest(&state) } }
  }
}

/// The entry of a topic in its registry, which owns it. It owns the topic's list. Tokens refer to it weakly.
///
/// Tokens could refer to the list itself, but the first weak reference to an object moves its reference counts to another block
/// of memory, and each post that retains the list would be slower.
///
/// `@unchecked`, because the compiler does not know that the unmanaged reference is to a `Sendable` list. This object retains
/// the list from `init` to `deinit`. The property never changes.
@safe final class TopicEntry: @unchecked Sendable {
  private let retainedList: Unmanaged<TopicList>

  init(_ list: TopicList) { unsafe retainedList = .passRetained(list) }

  deinit {
    let list = unsafe retainedList.takeRetainedValue()
    // The stored post is released after the lock, because its message is client code.
    _ = list.latestStore.flatMap { store in list.office.withLock { state in store.end(&state) } }
  }

  var list: TopicList { unsafe retainedList.takeUnretainedValue() }

  /// Whether nothing but this object refers to the list, and the list has no handlers. A stored message refers to the list, too.
  ///
  /// Call this with the registry's lock held, and only if the registry alone refers to this object. Then no other thread can
  /// begin to use the list, except for a token, which only ends a registration.
  func isUnused() -> Bool {
    // The runtime answers this for a variable only. So this passes the reference of this object to a variable, and then takes
    // it back. The property keeps the address meanwhile, because a token may read it.
    var list = unsafe retainedList.takeRetainedValue()
    defer { _ = unsafe Unmanaged.passRetained(list) }
    return isKnownUniquelyReferenced(&list) && !list.hasAnyBox
  }
}
