/// A post of a message.
///
/// Unchecked like its superclass. It adds a constant, which is Sendable.
@usableFromInline
final class TopicPost<Message: Sendable>: Post, @unchecked Sendable {
  @usableFromInline let message: Message

  @inlinable
  init(to list: TopicList, from site: CallSite, _ message: Message) {
    self.message = message
    super.init(to: list, from: site, keeping: list.keeper) { box, post in post.callHandler(in: box)
    }
  }

  private var topic: TopicList { unsafe unsafeDowncast(list, to: TopicList.self) }

  override var said: (any Sendable)? { message }

  override func copy() -> Post {
    let copy = TopicPost(to: topic, from: site, message)
    unsafe (copy.number, copy.trace) = (number, trace)
    return copy
  }

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async {
    guard let owner = box.load(), let (call, isLast) = box.observer.take(self) else { return }
    if isLast { list.remove(box) }
    if case .awaited(let call) = call { await call(owner, self) }
    extendLifetime(owner)
  }
}

extension Post {
  @usableFromInline
  final func callHandler(in box: WeakBox) -> CallOutcome {
    guard let owner = box.load() else { return .dead }
    guard let (call, isLast) = box.observer.take(self) else { return .skipped }
    // Before the call, in which it counts no more.
    if isLast { list.remove(box) }
    if case .called(let call) = call { call(owner, self) }
    return .called
  }
}

extension WeakBox {
  /// A topic's boxes are observers.
  var observer: TopicObserver { unsafe unsafeDowncast(self, to: TopicObserver.self) }
}
