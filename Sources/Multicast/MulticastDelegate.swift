/// The clients of one listener protocol, and the calls to all of them.
///
/// A ``MulticastCenter`` keeps one delegate for each listener protocol. A delegate is also useful as a
/// property, where a type has one kind of listener:
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
/// Clients are called in the order in which they were added, each once. `notify` calls them on this thread.
/// `post` calls each one in its home, the actor or the queue in which it was added: see <doc:NotifyOrPost>.
///
/// Clients are held weakly. Something else must own them. A local variable may end with its last use.
///
/// Every method may be called from any thread, also by a client that is being called. No lock is held while a
/// client runs. <doc:TheContract> lists what you can rely on.
public final class MulticastDelegate<Listener>: Sendable {
  @usableFromInline let clientList = ClientList(.listener(Listener.self))

  @usableFromInline let office: PostOffice

  /// The office's. A `notify` that looked it up there would retain the office.
  @usableFromInline let loopGuard: LoopGuard

  /// The office's; nil without `onDelivery`.
  @usableFromInline let reporter: Tracing?

  /// The class of the client whose kind was asked for last, and the answer.
  let recentClass = Atomic<UInt>(0)

  /// Creates a delegate without clients.
  ///
  /// What is posted through it has an order of its own, apart from that of a center.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify`. A negative ``ReentrancyPolicy/allow(depth:)`` stops
  ///     the program.
  ///   - onRecursion: Receives the report of each refused `notify`, and of the first `post` that is refused
  ///     among those that one call has set off. Runs on the refused call's thread, with no lock held. If nil,
  ///     each refused call site prints one report on standard error.
  ///   - onDelivery: Receives each event of every delivery, on the delivering thread, with no lock held:
  ///     see <doc:SeeingDeliveries>. If nil, nothing is measured.
  ///   - carried: A task-local value that is carried to where clients are called.
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

  @usableFromInline
  init(office: PostOffice) {
    self.office = office
    loopGuard = office.loopGuard
    reporter = office.tracing.flatMap { $0.reports ? $0 : nil }
  }
}
