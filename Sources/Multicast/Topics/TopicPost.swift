/// A post of a message to a topic.
///
/// `@unchecked`, because the superclass is. The one property that it adds is constant and `Sendable`.
@usableFromInline
final class TopicPost<Message: Sendable>: Post, @unchecked Sendable {
  @usableFromInline let message: Message

  @inlinable
  init(to list: TopicList, from site: CallSite, _ message: Message, for roster: Roster? = nil) {
    self.message = message
    let store = unsafe list.latestStore.map { unsafe Unmanaged.passUnretained($0) }
    super.init(to: list, from: site, in: store, for: roster, callHandler)
  }

  override var anyMessage: (any Sendable)? { message }

  override func copy(for roster: Roster) -> Post {
    let list = unsafe unsafeDowncast(list, to: TopicList.self)
    let copy = TopicPost(to: list, from: site, message, for: roster)
    unsafe copy.number = number
    unsafe copy.trace = trace.map { PostTrace(copying: $0) }
    return copy
  }

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async -> Bool {
    guard let owner = box.load(),
      case .await(let call, let isLast) = box.handlerBox.receive(self)
    else { return false }
    if isLast { list.endRegistration(of: box) }
    await call(owner, self)
    extendLifetime(owner)
    return true
  }
}

/// Calls the handler in a box with a post of a message.
///
/// A function of the module, which is passed as it is: a closure around it would add a call.
@usableFromInline
func callHandler(in box: WeakBox, with post: Post) -> CallOutcome {
  guard let owner = box.load() else { return .gone }
  guard case .call(let call, let isLast) = box.handlerBox.receive(post) else {
    return .skipped
  }
  // Before the call, so that the handler is no longer registered while it runs.
  if isLast { post.list.endRegistration(of: box) }
  call(owner, post)
  return .called
}
