/// A handler's registration for a topic: a token that may be ignored.
///
/// (It is not called `Observation`, since a type of this name hides the standard library's module, and
/// with it `@Observable`, in every file that imports this one.)
///
/// Dropping it ends nothing. The observation ends with its owner, with ``cancel()``, with one of the
/// center's methods for removal, when its owner observes the topic again under the same id, and, if
/// it was made with `once: true`, with its first message. A token keeps neither the handler nor the
/// owner alive.
public struct TopicObservation: Sendable {
  private let status: ObservationStatus
  private weak let owner: (AnyObject & Sendable)?
  private weak let observer: TopicObserver?
  private weak let list: TopicList?

  init(_ observer: TopicObserver, in list: TopicList, owner: AnyObject & Sendable) {
    status = observer.status
    self.owner = owner
    self.observer = observer
    self.list = list
  }

  /// Whether the handler takes further messages. May be asked on any thread.
  public var isActive: Bool { status.isActive && owner != nil && list != nil }

  /// Ends the observation. Messages that wait for the handler are given up.
  ///
  /// No call of the handler begins on this thread after that; one on another thread may be under way.
  /// May be called on any thread, in the handler, and more than once.
  ///
  /// - Complexity: Amortised O(1).
  public func cancel() {
    status.cancel()
    guard let observer else { return }
    // The owner is held, because the list looks whether it is alive with its lock held: if that were its
    // last reference, its `deinit` would run there.
    withExtendedLifetime(owner) { list?.remove(observer) }
    observer.giveUpLetters()
  }
}
