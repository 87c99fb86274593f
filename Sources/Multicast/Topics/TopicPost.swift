/// A post of a message.
///
/// Unchecked like its superclass. It adds a constant, which is Sendable.
@usableFromInline
final class TopicPost<Message: Sendable>: Post, @unchecked Sendable {
  @usableFromInline let message: Message

  @inlinable
  init(to list: TopicList, from site: CallSite, _ message: Message) {
    self.message = message
    let latest = unsafe list.latest.map { unsafe Unmanaged.passUnretained($0) }
    super.init(to: list, from: site, keptIn: latest, callHandler)
  }

  override var said: (any Sendable)? { message }

  override func copy() -> Post {
    let list = unsafe unsafeDowncast(list, to: TopicList.self)
    let copy = TopicPost(to: list, from: site, message)
    unsafe (copy.number, copy.trace) = (number, trace)
    copy.set(cause)
    return copy
  }

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async {
    guard let owner = box.load(),
      case .await(let call, let isLast) = box.handlerBox.take(self)
    else { return }
    if isLast { list.remove(box) }
    await call(owner, self)
    extendLifetime(owner)
  }
}

/// Calls the handler in a box with a post of a message. A function of the module, because a closure would be called in
/// between.
@usableFromInline
func callHandler(in box: WeakBox, with post: Post) -> CallOutcome {
  guard let owner = box.load() else { return .dead }
  guard case .call(let call, let isLast) = box.handlerBox.take(post) else { return .skipped }
  // Before the call, in which it counts no more.
  if isLast { post.list.remove(box) }
  call(owner, post)
  return .called
}
