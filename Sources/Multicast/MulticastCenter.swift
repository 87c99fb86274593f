// The object that users meet first. It finds the list of a listener protocol or a topic, and owns the office that orders all
// posts.
//
// - `registries` finds the delegate of a listener protocol, or the topics of a message type, by type and without a lock: see
//   `RegistryTable`. Each delegate and each topic owns one `ClientList`, which contains the listeners: see ClientList.swift.
// - `office` contains the mailboxes of all homes, and the lock that orders their letters: see `PostOffice`. All delegates and
//   topics of a center share it, so their letters have one order.
//
// Each way to use a center is in a file beside this one. A call takes these steps:
//
//     center.add(client, for: P.self)       withMadeDelegate → MulticastDelegate.add → ClientList.register
//     center.notify(P.self) { … }           withDelegate → notifyEach → LoopGuard.enter; forEachClient → withClient
//     center.post(P.self) { … }             withDelegate → MulticastDelegate.post → PostOffice.post: see Delivery.swift
//     center.observe(topic, owner: o) { … } findOrMakeEntry → TopicEntry.observe → registerWithLatest → beginWithLatest
//     center.post(topic, message)           list(of:) → PostOffice.post: see Delivery.swift

/// Calls every object that is registered for a listener protocol.
///
/// Objects that you add for a protocol are its *clients*. The center holds them weakly:
///
/// <!-- example: in Center -->
/// ```swift
/// @MainActor protocol UserProtocol {
///   func userLogin(_ userID: UInt)
///   func logout()
/// }
/// // Defaults make every method optional.
/// extension UserProtocol {
///   func userLogin(_ userID: UInt) {}
///   func logout() {}
/// }
///
/// @MainActor final class ProfileScreen: UserProtocol {
///   init(center: MulticastCenter) {
///     center.add(self, for: UserProtocol.self)
///   }
///   func userLogin(_ userID: UInt) {
///     print("Welcome, \(userID)")
///   }
/// }
///
/// let screen = ProfileScreen(center: center)
///
/// // Every client, on this thread.
/// center.notify(UserProtocol.self) { $0.userLogin(19000) }
///
/// // Every client, on the main actor, from any thread.
/// await center.postOnMain(UserProtocol.self) {
///   $0.userLogin(19000)
/// }.delivered()
/// ```
///
/// The protocol is a *key*. It can be any protocol, a composition `(A & B).self`, a constrained protocol
/// `(any Sink<Int>).self`, a protocol of a global actor, or a class. A key is exactly one type: a client is
/// not called for a protocol that its own protocol inherits from.
///
/// Methods and closures observe a ``Topic`` of the same center. Every home receives the posts of a center in one
/// order, across protocols and topics.
///
/// You may call every method on any thread, even in a client that is being called. <doc:TheContract> lists
/// what you can rely on.
public final class MulticastCenter: Sendable {
  /// The center of the process. It refuses loops, and reports each on standard error.
  public static let `default` = MulticastCenter()

  /// The delegates by the types of their listener protocols, and the registries of topics by their message types.
  @usableFromInline let registries = RegistryTable()

  @usableFromInline let office: PostOffice

  /// Objects that the center owns until they are detached.
  let attachments = Attachments([:])

  /// Creates a center without clients.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify` of the same listener protocol. A negative
  ///     ``ReentrancyPolicy/allow(depth:)`` stops the program.
  ///   - onRecursion: Receives a report of each refused `notify`, and, for each chain of recurring posts, of the
  ///     first `post` that is refused. It runs on the thread of the refused call, with no lock held. If nil,
  ///     each refused call site prints one report on standard error. A call that is refused inside `onRecursion`
  ///     is printed, too.
  ///   - onDelivery: Receives each event of every delivery, on the delivering thread, with no lock held.
  ///     Deliveries that it causes are not reported, by any center, except those of an `isolated deinit` and of a
  ///     `Task.detached`, which do not see the values of the task. If nil, there are no events, and without `carrying` nothing is
  ///     measured. See <doc:SeeingDeliveries>.
  ///   - carried: A task-local value that clients and handlers see where they are called.
  public init(
    reentrancy: ReentrancyPolicy = .refuseLoops,
    onRecursion: (@Sendable (RecursiveNotify) -> Void)? = nil,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)? = nil,
    carrying carried: CarriedValue? = nil
  ) {
    office = PostOffice(
      reentrancy: reentrancy, onRecursion: onRecursion, onDelivery: onDelivery, carrying: carried)
    #if DEBUG
      CenterReference.note(self)
    #endif
  }

  /// Creates a center for a test, in which a scheduler decides when letters are handled.
  package init(
    onRecursion: (@Sendable (RecursiveNotify) -> Void)?,
    onDelivery: @escaping @Sendable (DeliveryEvent) -> Void, scheduler: any LetterScheduler
  ) {
    office = PostOffice(
      reentrancy: .refuseLoops, onRecursion: onRecursion, onDelivery: onDelivery, carrying: nil,
      scheduler: scheduler)
    #if DEBUG
      CenterReference.note(self)
    #endif
  }

  /// Returns the delegate of a listener protocol.
  ///
  /// Use it for what the center has no method for, such as `clients`, `count` and `notify(forEach:)`. It is
  /// always the same object, and works even after the center is deallocated.
  ///
  /// - Parameter listener: The listener protocol.
  /// - Returns: Its delegate, which is made if there is none.
  /// - Complexity: O(1), without a lock once the delegate exists.
  public subscript<Listener>(_ listener: Listener.Type) -> MulticastDelegate<Listener> {
    withMadeDelegate(for: listener) { $0 }
  }

  /// Passes the delegate of a listener protocol to `body`. Returns nil if there is none. If a delivery is to be reported, makes the
  /// delegate, so that one without clients is reported, too.
  ///
  /// `body` borrows the delegate: the table owns it, the center owns the table, and this method extends the life of the center.
  /// A reference that was returned would be retained and released in every `notify`.
  ///
  /// - Parameter site: The call site of a delivery, for which a debug build looks for mistakes if it reaches no client; nil for
  ///   calls that deliver nothing.
  @inlinable @inline(__always)
  func withDelegate<Listener, Result: ~Copyable, Failure: Error>(
    for listener: Listener.Type, from site: CallSite? = nil,
    _ body: (MulticastDelegate<Listener>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    #if DEBUG
      if let site { hintAtUnheard(listener, from: site) }
    #endif
    let found = unsafe findDelegate(for: listener)
    let isReported = site != nil && office.isReported
    guard let delegate = unsafe found ?? (isReported ? makeDelegate(for: listener) : nil)
    else { return nil }
    defer { extendLifetime(self) }
    return unsafe try delegate.pointee.borrow(body)
  }

  /// Passes the delegate of a listener protocol to `body`. Makes the delegate if there is none.
  @inlinable
  func withMadeDelegate<Listener, Result>(
    for listener: Listener.Type, _ body: (MulticastDelegate<Listener>) -> Result
  ) -> Result {
    defer { extendLifetime(self) }
    return unsafe (findDelegate(for: listener) ?? makeDelegate(for: listener)).pointee.borrow(body)
  }

  /// Returns a pointer to the reference to the delegate of a listener protocol; nil if there is none. It is the address of a
  /// node of the table, which begins with that reference: see ``RegistryTable``.
  @inlinable @inline(__always)
  func findDelegate<Listener>(
    for listener: Listener.Type
  ) -> UnsafeMutablePointer<Borrowed<MulticastDelegate<Listener>>>? {
    unsafe registries.find(MulticastDelegate<Listener>.key)?
      .assumingMemoryBound(to: Borrowed<MulticastDelegate<Listener>>.self)
  }

  /// Does what `findDelegate(for:)` does. Makes the delegate if there is none.
  @usableFromInline
  func makeDelegate<Listener>(
    for listener: Listener.Type
  ) -> UnsafeMutablePointer<Borrowed<MulticastDelegate<Listener>>> {
    unsafe registries.findOrAdd(MulticastDelegate<Listener>.key) {
      MulticastDelegate<Listener>(office: office)
    }.assumingMemoryBound(to: Borrowed<MulticastDelegate<Listener>>.self)
  }
}

extension MulticastDelegate: ClientRegistry {
  /// The key is `Listener` itself, and not a metatype that a caller has passed, which may be that of a subclass: the delegate has
  /// the type of its key.
  @inlinable
  static var key: ObjectIdentifier { ObjectIdentifier(Listener.self) }

  var lists: [ClientList] { [clientList] }

  func removeClient(_ client: AnyObject) -> Int { clientList.remove(client) ? 1 : 0 }
}

extension MulticastCenter {
  /// The center of this task: ``default``, unless a test has set another one.
  ///
  /// <!-- example: in Settling -->
  /// ```swift
  /// nonisolated struct AccountStore: Sendable {
  ///   let center: MulticastCenter
  ///
  ///   init(center: MulticastCenter = .current) {
  ///     self.center = center
  ///   }
  /// }
  /// ```
  ///
  /// Read it once, where you create an object, and keep the center. It is a task-local value: child tasks and
  /// `Task { }` inherit it. `Task.detached`, blocks on queues, and calls in other homes see ``default``.
  ///
  /// - Complexity: O(1), with a look-up of a task-local value.
  public static var current: MulticastCenter { ofTask }

  /// The task-local value behind ``current``. The trait `.ownCenter` of a test binds it.
  @TaskLocal package static var ofTask: MulticastCenter = .default
}
