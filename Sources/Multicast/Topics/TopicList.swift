/// The handlers of one topic. It does not know the message type: see ``Handler``.
///
/// Unchecked like its superclass. It adds constants, which are Sendable.
@usableFromInline
final class TopicList: ClientList, @unchecked Sendable {
  let name: String

  /// Keeps the latest message; nil if the topic does not.
  @usableFromInline let latest: LatestMessage?

  @usableFromInline let office: PostOffice

  /// Where the topic was used first.
  let site: CallSite

  init<Message>(_ topic: Topic<Message>, office: PostOffice, site: CallSite) {
    name = topic.name
    self.office = office
    self.site = site
    latest = topic.keepsLatest ? LatestMessage() : nil
    super.init(.topic(name: topic.name, keepsLatest: topic.keepsLatest, message: Message.self))
  }

  #if DEBUG
    deinit { reportLeaks() }
  #endif

  /// Whether a post may concern anybody.
  @inlinable var takesPosts: Bool { !isEmpty || latest != nil }

  /// Whether nobody observes the topic, and nothing is kept.
  var isUnused: Bool { boxes.registered == 0 && latestPost == nil }

  /// The post of the latest message.
  var latestPost: Post? { latest.flatMap { latest in office.withLock { latest.post(&$0) } } }

  /// Removes the latest message, and withdraws the posts of this thread that are still to be stored. Returns its post.
  func removeLatest() -> Post? {
    guard let latest else { return nil }
    DeliveryChain().withdrawPosts(from: latest)
    return office.withLock { state in latest.replace(with: nil, &state) }
  }
}

/// Refers to a topic's list, for its registry, and weakly for its tokens. A weak reference to the list itself would make its
/// reference counting slow.
///
/// Unchecked, because the compiler does not know what an unmanaged reference is to: a Sendable list, which this has from
/// `init` to `deinit`. The property never changes; ``isUnused()`` lends the reference to a variable for a moment.
@safe final class TopicReference: @unchecked Sendable {
  private let own: Unmanaged<TopicList>

  init(_ list: TopicList) { unsafe own = .passRetained(list) }

  deinit {
    let list = unsafe own.takeRetainedValue()
    if let latest = list.latest { _ = list.office.withLock { latest.end(&$0) } }
  }

  var list: TopicList { unsafe own.takeUnretainedValue() }

  /// Whether nobody else refers to the list, observes the topic, or has kept anything. Nobody else has this.
  func isUnused() -> Bool {
    // Asked of a variable of this function, which has the reference meanwhile. Others read the property.
    var list = unsafe own.takeRetainedValue()
    defer { _ = unsafe Unmanaged.passRetained(list) }
    return isKnownUniquelyReferenced(&list) && list.isUnused
  }
}
