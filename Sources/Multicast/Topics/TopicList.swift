/// The handlers of one topic. It does not know the message type: see ``TopicHandler``.
///
/// Unchecked like its superclass. It adds constants, which are Sendable.
@usableFromInline
final class TopicList: ClientList, @unchecked Sendable {
  let name: String

  /// Keeps the latest message; nil if the topic does not.
  @usableFromInline let keeper: Keeper?

  @usableFromInline let office: PostOffice

  /// Where the topic was used first.
  let site: CallSite

  init<Message>(_ topic: Topic<Message>, office: PostOffice, site: CallSite) {
    name = topic.name
    self.office = office
    self.site = site
    keeper = topic.keepsLatest ? Keeper() : nil
    super.init(.topic(name: topic.name, keepsLatest: topic.keepsLatest, message: Message.self))
  }

  #if DEBUG
    deinit {
      for box in boxes where box.mayBeLoaded {
        if let leak = box.observer.endFindingLeak(in: self) {
          StandardError.print("Multicast: \(leak)")
        }
      }
    }
  #endif

  /// Whether a post may concern anybody.
  @inlinable var concernsSomebody: Bool { !isEmpty || keeper != nil }

  /// Whether nobody observes the topic, and nothing is kept.
  var isUnused: Bool { boxes.registered == 0 && latest == nil }

  /// The latest message, as a post.
  var latest: Post? { keeper.flatMap { keeper in office.withLock { keeper.latest(&$0) } } }

  /// Removes the latest message. Posts that wait for a call to end are not kept.
  func removeLatest() -> Post? {
    guard let keeper else { return nil }
    return office.withLock { state in
      keeper.removals.wrappingAdd(1, ordering: .relaxed)
      return keeper.replace(with: nil, &state)
    }
  }

  #if DEBUG
    /// Stops the program if a topic of the same name and message type disagrees on whether it keeps its latest.
    @usableFromInline
    func check(keepsLatest: Bool, from other: CallSite) {
      if keepsLatest == (keeper != nil) { return }
      fatalError(
        """
        Multicast: two topics disagree: \(subject), which was used at \(site), and the one used at \(other), which \
        \(keepsLatest ? "keeps" : "does not keep") its latest message. Declare the topic once, or give one of them another name.
        """, file: other.file, line: UInt(other.line))
    }
  #endif
}

/// Refers to a topic's list, for its registry, and weakly for its tokens. A weak reference to the list itself would make its
/// reference counting slow.
///
/// Unchecked, because the compiler does not know what an unmanaged reference is to: a Sendable list, which this has from
/// `init` to `deinit`. The property never changes; ``isUnused()`` lends the reference to a variable for a moment.
@safe final class TopicAnchor: @unchecked Sendable {
  private let own: Unmanaged<TopicList>

  init(_ list: TopicList) { unsafe own = .passRetained(list) }

  deinit {
    let list = unsafe own.takeRetainedValue()
    if let keeper = list.keeper { _ = list.office.withLock { keeper.end(&$0) } }
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
