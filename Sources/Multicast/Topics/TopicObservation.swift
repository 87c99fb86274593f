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
  /// What the token knows, and does not keep.
  ///
  /// Unchecked, because weak references are variables, unless they are constants of a compiler newer than
  /// this package asks for. These are assigned in `init` alone, what they lead to is Sendable, and any
  /// thread may load a weak reference.
  private final class Registration: @unchecked Sendable {
    private(set) weak var owner: (AnyObject & Sendable)?
    private(set) weak var observer: TopicObserver?
    private(set) weak var list: TopicList?

    init(_ observer: TopicObserver, in list: TopicList, owner: AnyObject & Sendable) {
      self.owner = owner
      self.observer = observer
      self.list = list
    }
  }

  private let status: ObservationStatus
  private let registration: Registration

  init(_ observer: TopicObserver, in list: TopicList, owner: AnyObject & Sendable) {
    status = observer.status
    registration = Registration(observer, in: list, owner: owner)
  }

  /// Whether the handler takes further messages. May be asked on any thread.
  public var isActive: Bool {
    status.isActive && registration.owner != nil && registration.list != nil
  }

  /// Ends the observation. Messages that wait for the handler are given up.
  ///
  /// No call of the handler begins on this thread after that; one on another thread may be under way.
  /// May be called on any thread, in the handler, and more than once.
  ///
  /// - Complexity: Amortised O(1).
  public func cancel() {
    status.cancel()
    guard let observer = registration.observer else { return }
    registration.list?.remove(observer)
    observer.giveUpLetters()
  }
}
