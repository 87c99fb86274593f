/// Calls the clients of listener protocols: one call, many clients.
///
/// A listener protocol is the key, the objects that conform to it are its clients:
///
/// <!-- example: in Center -->
/// ```swift
/// protocol UserProtocol {
///   func userLogin(_ userID: UInt)
///   func logout()
/// }
/// extension UserProtocol {  // what a client does not care about, it need not implement
///   func userLogin(_ userID: UInt) {}
///   func logout() {}
/// }
///
/// final class ProfileScreen: UserProtocol {
///   init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
///   func userLogin(_ userID: UInt) { print("Welcome, \(userID)") }
/// }
///
/// center.notify(UserProtocol.self) { $0.userLogin(19000) }  // here and now
/// center.post(UserProtocol.self) { $0.userLogin(19000) }  // each client where it lives
/// ```
///
/// `notify` calls every client on this thread, and returns when all of them have been called.
/// `post` calls every client at home, in causal order: see <doc:NotifyOrPost>.
///
/// Any protocol will do, with `AnyObject` or without; so will a composition, as in `(A & B).self`,
/// a constrained protocol, as in `(any Sink<Int>).self`, a protocol isolated to a global actor, and
/// a class. The compiler refuses a client that does not conform. A key is exactly one type: a
/// client of a protocol is not called when the protocol that it inherits from is notified.
///
/// Closures observe topics of the same center: see ``Topic``. Everything that is posted through one
/// center, to protocols and to topics, is in one order.
///
/// ``MulticastDelegate`` says what may be relied on: the order and the life of clients, changes
/// during a delivery, threads, homes and loops. A client may release the center during a delivery,
/// too.
public final class MulticastCenter: Sendable {
  /// The center of the process, for programs that need only one.
  ///
  /// It refuses loops, and reports each in one line on standard error.
  public static let `default` = MulticastCenter()

  /// The delegates, by their listener types, and the registries of topics, by the types of these.
  @usableFromInline
  let registries = RegistryTable()

  @usableFromInline
  let office: PostOffice

  /// Objects that live as long as the center, if nobody detaches them.
  let attachments = Attachments([:])

  /// Creates a center without clients.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a notify inside a notify of the same protocol. A negative
  ///     ``ReentrancyPolicy/allow(depth:)`` stops the program.
  ///   - onRecursion: Is called with the report of every refused notify, and of the first refused
  ///     one of the posts that a post has set off. It is called where that was made, on the same
  ///     thread, with no lock held. If nil, each call site that is refused is reported once, in one
  ///     line on standard error. So is one that is refused while `onRecursion` runs.
  ///   - onDelivery: Is called with each event of every delivery, on the thread that delivers, with
  ///     no lock held. What it notifies and posts itself is delivered and not reported, by any center,
  ///     nor is what that sets off. If nil, nothing is measured. See <doc:SeeingDeliveries>.
  ///   - carried: A task-local value that posts take along to where they are handled.
  public init(
    reentrancy: ReentrancyPolicy = .refuseLoops,
    onRecursion: (@Sendable (RecursiveNotify) -> Void)? = nil,
    onDelivery: (@Sendable (DeliveryEvent) -> Void)? = nil,
    carrying carried: CarriedValue? = nil
  ) {
    office = PostOffice(
      reentrancyGuard: ReentrancyGuard(policy: reentrancy, onRecursion: onRecursion),
      tracing: PostTracing(onDelivery: onDelivery, carrying: carried))
  }

  /// The delegate of a listener protocol: the list that the center's own methods use.
  ///
  /// It is the same one every time, and it goes on working without the center. May be read from any
  /// thread.
  ///
  /// - Complexity: O(1), without a lock once the delegate has been made.
  public subscript<Listener>(_ listener: Listener.Type) -> MulticastDelegate<Listener> {
    withMadeDelegate(for: listener) { $0 }
  }

  /// Lends the delegate of a listener protocol, which is made if nobody has asked for it yet.
  ///
  /// The delegate is not retained, as in ``withDelegate(for:_:)``.
  func withMadeDelegate<Listener, Result>(
    for listener: Listener.Type, _ body: (MulticastDelegate<Listener>) -> Result
  ) -> Result {
    defer { extendLifetime(self) }
    let place = unsafe registries.find(ObjectIdentifier(listener)) {
      MulticastDelegate<Listener>(office: office)
    }
    return unsafe place.assumingMemoryBound(to: Borrowed<MulticastDelegate<Listener>>.self)
      .pointee.borrow(body)
  }

  /// Lends the delegate of a listener protocol, if anybody has asked for it yet.
  ///
  /// The delegate is not retained. The center's table keeps it, and this keeps the center.
  @inlinable
  @inline(__always)
  func withDelegate<Listener, Result, Failure: Error>(
    for listener: Listener.Type,
    _ body: (MulticastDelegate<Listener>) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try withRegistry(for: ObjectIdentifier(listener), body)
  }

  /// Lends what is registered for a key, which is of the type `Registry`.
  @inlinable
  @inline(__always)
  func withRegistry<Registry: AnyObject, Result, Failure: Error>(
    for key: ObjectIdentifier, _ body: (Registry) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let place = unsafe registries.find(key) else { return nil }
    defer { extendLifetime(self) }
    return unsafe try place.assumingMemoryBound(to: Borrowed<Registry>.self).pointee.borrow(body)
  }
}

extension MulticastDelegate: ClientRegistry {
  func removeClient(_ client: AnyObject) -> Int { remove(object: client) ? 1 : 0 }
}
