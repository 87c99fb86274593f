/// Calls every object that is registered with it: the clients of one listener protocol.
///
/// A ``MulticastCenter`` has one delegate for each listener protocol. A delegate is also useful as a
/// property, for a type with one kind of listener:
///
/// <!-- example: in Download -->
/// ```swift
/// final class Download {
///   let delegates = MulticastDelegate<any DownloadDelegate>()
///
///   func finish() {
///     delegates.notify { $0.downloadDidFinish(self) }
///   }
/// }
/// ```
///
/// A delegate calls each client once, in the order in which they were added. `notify` calls them on this
/// thread. `post` calls each one in its *home*, the actor in which you add it, or the queue that you pass with
/// `on:`: see <doc:NotifyOrPost>.
///
/// It holds its clients weakly, so something else must own them. A local variable may end with its last use.
///
/// You may call every method on any thread, even in a client that is being called. No lock is held while a
/// client runs. <doc:TheContract> lists what you can rely on.
public final class MulticastDelegate<Listener>: Sendable {
  @usableFromInline let clientList: ClientList

  @usableFromInline let office: PostOffice

  /// The guard of the office. It is stored here, too, because a `notify` that read it there would retain the office.
  @usableFromInline let loopGuard: LoopGuard

  /// The tracing of the office; nil without `onDelivery`.
  @usableFromInline let reporter: Tracing?

  /// The class for which `isActor` was called last, and its answer.
  let recentClass = Atomic<UInt>(0)

  /// Creates a delegate without clients.
  ///
  /// What you post through it has an order of its own, apart from that of a center.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify`. A negative ``ReentrancyPolicy/allow(depth:)`` stops
  ///     the program.
  ///   - onRecursion: Receives a report of each refused `notify`, and, for each chain of recurring posts, of the
  ///     first `post` that is refused. It runs on the thread of the refused call, with no lock held. If nil,
  ///     each refused call site prints one report on standard error. A call that is refused inside `onRecursion`
  ///     is printed, too.
  ///   - onDelivery: Receives each event of every delivery, on the delivering thread, with no lock held: see
  ///     <doc:SeeingDeliveries>. Deliveries that it causes are not reported, by any center or delegate, except
  ///     those of an `isolated deinit` and of a `Task.detached`. If nil, there are no events, and without
  ///     `carrying` nothing is measured.
  ///   - carried: A task-local value that clients see where they are called.
  public convenience init(
    reentrancy: ReentrancyPolicy = .refuseLoops,
    onRecursion: (@Sendable (RecursiveNotify) -> Void)? = nil,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)? = nil,
    carrying carried: CarriedValue? = nil
  ) {
    self.init(
      office: PostOffice(
        reentrancy: reentrancy, onRecursion: onRecursion, onDelivery: onDelivery, carrying: carried)
    )
  }

  /// Creates a delegate that shares an office with the other delegates and the topics of a center.
  init(office: PostOffice) {
    self.office = office
    loopGuard = office.loopGuard
    reporter = office.isReported ? office.tracing : nil
    clientList = ClientList(.listener(Listener.self), isReported: office.isReported)
  }
}
