/// A post of a message.
///
/// Unchecked like its superclass. It adds a constant, which is Sendable.
@usableFromInline
final class TopicPost<Message: Sendable>: Post, @unchecked Sendable {
  @usableFromInline let message: Message

  @inlinable
  init(to list: TopicList, from site: CallSite, _ message: Message) {
    self.message = message
    let keeper = unsafe list.keeper.map { unsafe Unmanaged.passUnretained($0) }
    super.init(to: list, from: site, keeping: keeper, callHandler)
  }

  private var topic: TopicList { unsafe unsafeDowncast(list, to: TopicList.self) }

  override var said: (any Sendable)? { message }

  override func copy() -> Post {
    let copy = TopicPost(to: topic, from: site, message)
    unsafe (copy.number, copy.trace) = (number, trace)
    return copy
  }

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async {
    guard let owner = box.load() else { return }
    let (call, isLast) = box.observer.takeAwaited(self)
    guard let isLast else { return }
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
  let (call, isLast) = box.observer.take(post)
  guard let isLast else { return .skipped }
  // Before the call, in which it counts no more.
  if isLast { post.list.remove(box) }
  call(owner, post)
  return .called
}

extension WeakBox {
  /// A topic's boxes are observers.
  var observer: TopicObserver { unsafe unsafeDowncast(self, to: TopicObserver.self) }
}
