import CNATS
import Dispatch
import DequeModule
import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// A carrier over the subjects of a nats-server, with the official C client.
///
/// Each connection is a new one of the client's, which is told of every refusal. A ping each five seconds
/// notices a server that stands still.
public final class NATSCarrier: Carrier {
  /// Where the servers are, and who asks.
  public struct Configuration: Sendable {
    /// The servers of a cluster, one of which is used.
    public var urls: [String]
    /// The user, if he is not in the URL.
    public var user: String?
    /// The password.
    public var password: String?
    /// A token in place of user and password.
    public var token: String?
    /// The path of a file with a user's JWT and seed.
    public var credentialsFile: String?
    /// The path of a file with the certificates that the server's is signed by. With it, or with `tls://`,
    /// the connection is encrypted.
    public var certificateAuthority: String?
    /// What the connection is called in the server's lists.
    public var name: String
    /// How many bytes may wait for the network, and as many to be handled.
    public var waitingBytes = 8 << 20

    /// Creates a configuration.
    ///
    /// - Parameter urls: `nats://user:password@host:port` or `tls://…`, of which the host is enough.
    /// - Throws: `InvalidURL`.
    public init(urls: String..., name: String = "multicast") throws {
      for url in urls {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 3, ["nats:", "tls:"].contains(parts[0]), parts[1].isEmpty,
          let host = parts[2].split(separator: "@").last?.split(separator: ":"),
          (1...2).contains(host.count), host.count == 1 || UInt16(host[1]) != nil
        else { throw InvalidURL(url: url) }
      }
      self.urls = urls
      self.name = name
    }

    var tells: String { urls.map(withoutCredentials).joined(separator: ", ") }
  }

  /// An address that is none of a nats-server.
  public struct InvalidURL: Error, CustomStringConvertible {
    let url: String
    /// A sentence for whoever has configured it, without the user and the password.
    public var description: String {
      "\(withoutCredentials(url)) is no address like nats://user:password@host:port."
    }
  }

  private struct State: Sendable {
    var connection: Connection?
    var subscriptions: [String: Subscription?] = [:]
    /// Whether the connection is no more than something to destroy.
    var isLost = false
    var limit = 1 << 20  // nats-server's default, until it has told its own
    var isClosed = false
  }

  private let configuration: Configuration
  private let state = NIOLockedValueBox(State())
  /// The client waits when the network does, so that nobody else has to.
  private let queue = DispatchQueue(label: "NATSCarrier")
  private let outgoing: NIOLockedValueBox<Batches<(payload: ByteBuffer, subject: String)>?>
  private let prepare: @Sendable (Connection) -> String?

  /// Creates a carrier that is not connected yet.
  public convenience init(_ configuration: Configuration) {
    self.init(configuration) { _ in nil }
  }

  /// - Parameter prepare: Prepares a new connection before anybody is told of it. Returns what the server refuses.
  init(_ configuration: Configuration, prepare: @escaping @Sendable (Connection) -> String?) {
    self.configuration = configuration
    self.prepare = prepare
    outgoing = NIOLockedValueBox(nil)
    let batches = Batches<(payload: ByteBuffer, subject: String)>(
      on: queue, limit: configuration.waitingBytes
    ) { [weak self] batch in self?.send(batch) }
    outgoing.withLockedValue { $0 = batches }
  }

  /// The server's `max_payload`, or 1 MiB before the server has told it.
  public var payloadLimit: Int { state.withLockedValue { $0.limit } }

  /// Connects, and connects again half a second after each loss.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
    let receiver = Receiver(receive)
    receiver.carrier = self
    // The client's threads may call until they have ended, and nothing tells when. So the receiver lives as
    // long as the process, which has few carriers.
    let closure = unsafe UInt(bitPattern: Unmanaged.passRetained(receiver).toOpaque())
    queue.async { self.connect(receiver, closure) }
  }

  /// Connects again, if this connection was the one that stood. (One that never stood is told to be closed,
  /// too.)
  fileprivate func lost(_ pointer: OpaquePointer?, _ receiver: Receiver, _ reason: String) {
    let stood = state.withLockedValue { state in
      guard let connection = state.connection, unsafe connection.pointer == pointer,
        !state.isLost
      else { return false }
      state.isLost = true
      return true
    }
    if stood { connectAgain(receiver, reason) }
  }

  private func connectAgain(_ receiver: Receiver, _ reason: String) {
    guard !state.withLockedValue({ $0.isClosed }) else { return }
    receiver.tell(.disconnected(reason))
    let closure = unsafe UInt(bitPattern: Unmanaged.passUnretained(receiver).toOpaque())
    queue.asyncAfter(deadline: .now() + .milliseconds(500)) { self.connect(receiver, closure) }
  }

  private func connect(_ receiver: Receiver, _ address: UInt) {
    guard !state.withLockedValue({ $0.isClosed }) else { return }
    destroy()
    let closure = unsafe UnsafeMutableRawPointer(bitPattern: address)
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    if let refused = unsafe configure(options) { return connectAgain(receiver, refused) }
    unsafe natsOptions_SetClosedCB(options, onClosed, closure)
    unsafe natsOptions_SetErrorHandler(options, onError, closure)
    var pointer: OpaquePointer?
    let status = unsafe natsConnection_Connect(&pointer, options)
    guard status == NATS_OK, let pointer = unsafe pointer else {
      return connectAgain(
        receiver, "No connection with \(configuration.tells): \(reason(of: status))")
    }
    let connection = unsafe Connection(pointer: pointer, closure: closure)
    let subjects = state.withLockedValue { state in
      (state.connection, state.isLost) = (connection, false)
      let limit = unsafe natsConnection_GetMaxPayload(pointer)
      if limit > 0 { state.limit = Int(limit) }
      return Array(state.subscriptions.keys)
    }
    for subject in subjects { subscribe(connection, subject, receiver) }
    if let refused = prepare(connection) { receiver.tell(.problem(refused)) }
    // The server knows the subscriptions before anybody is told of the connection.
    let flushed = unsafe natsConnection_FlushTimeout(pointer, 2_000)
    guard flushed == NATS_OK, unsafe !natsConnection_IsClosed(pointer) else {
      return unsafe lost(pointer, receiver, "The connection was lost: \(reason(of: flushed))")
    }
    receiver.tell(.connected)
  }

  /// Returns why the options are refused.
  func configure(_ options: OpaquePointer?) -> String? {
    var statuses: [natsStatus] = []
    unsafe statuses.append(natsOptions_SetURL(options, configuration.urls.joined(separator: ",")))
    // Its own reconnection gives up where a password is wrong for a while.
    unsafe statuses.append(natsOptions_SetAllowReconnect(options, false))
    unsafe statuses.append(natsOptions_SetNoEcho(options, true))
    // What leaves together is one payload already: nobody is woken to collect more.
    unsafe statuses.append(natsOptions_SetSendAsap(options, true))
    unsafe statuses.append(natsOptions_SetTimeout(options, 2_000))
    unsafe statuses.append(natsOptions_SetWriteDeadline(options, 2_000))
    unsafe statuses.append(natsOptions_SetPingInterval(options, 5_000))
    unsafe statuses.append(natsOptions_SetMaxPingsOut(options, 1))
    unsafe statuses.append(natsOptions_SetName(options, configuration.name))
    // One thread for all subscriptions keeps the order between them.
    unsafe statuses.append(natsOptions_UseGlobalMessageDelivery(options, true))
    if let user = configuration.user {
      unsafe statuses.append(natsOptions_SetUserInfo(options, user, configuration.password ?? ""))
    }
    if let token = configuration.token {
      unsafe statuses.append(natsOptions_SetToken(options, token))
    }
    if let file = configuration.credentialsFile {
      unsafe statuses.append(natsOptions_SetUserCredentialsFromFiles(options, file, nil))
    }
    if configuration.urls.contains(where: { $0.hasPrefix("tls:") })
      || configuration.certificateAuthority != nil
    {
      unsafe statuses.append(natsOptions_SetSecure(options, true))
    }
    if let file = configuration.certificateAuthority {
      unsafe statuses.append(natsOptions_LoadCATrustedCertificates(options, file))
    }
    return statuses.first { $0 != NATS_OK }.map {
      "The configuration for \(configuration.tells) is refused: \(reason(of: $0))"
    }
  }

  deinit { destroy() }

  private func destroy() {
    let (connection, subscriptions) = state.withLockedValue { state in
      defer { state.subscriptions = state.subscriptions.mapValues { _ in nil } }
      return (state.connection.take(), state.subscriptions.values.compactMap { $0 })
    }
    for subscription in subscriptions { unsafe natsSubscription_Destroy(subscription.pointer) }
    if let connection { unsafe natsConnection_Destroy(connection.pointer) }
  }

  // MARK: Subscriptions

  /// Receives the payloads of a subject.
  public func subscribe(to subject: String) {
    state.withLockedValue { $0.subscriptions[subject] = .some(nil) }
    queue.async {
      guard let connection = self.state.withLockedValue({ $0.connection }) else { return }
      self.subscribe(connection, subject, nil)
    }
  }

  /// Receives the payloads of a subject no longer.
  public func unsubscribe(from subject: String) {
    let subscription = state.withLockedValue { $0.subscriptions.removeValue(forKey: subject) }
    queue.async {
      guard let subscription = subscription ?? nil else { return }
      unsafe natsSubscription_Unsubscribe(subscription.pointer)
      unsafe natsSubscription_Destroy(subscription.pointer)
    }
  }

  private func subscribe(_ connection: Connection, _ subject: String, _ receiver: Receiver?) {
    guard state.withLockedValue({ $0.subscriptions[subject] == .some(nil) }) else { return }
    var pointer: OpaquePointer?
    let status = unsafe natsConnection_Subscribe(
      &pointer, connection.pointer, subject, onMessage, connection.closure)
    guard status == NATS_OK, let pointer = unsafe pointer else {
      receiver?.tell(.problem("\(subject) cannot be subscribed to: \(reason(of: status))"))
      return
    }
    unsafe natsSubscription_SetPendingLimits(pointer, -1, Int32(configuration.waitingBytes))
    let subscription = unsafe Subscription(pointer: pointer)
    state.withLockedValue { $0.subscriptions[subject] = subscription }
  }

  // MARK: Payloads

  /// Leaves the payload to a queue, which hands it to the client.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    let (limit, isConnected) = state.withLockedValue {
      ($0.limit, $0.connection != nil && !$0.isLost)
    }
    guard payload.readableBytes <= limit else {
      throw .tooLarge(bytes: payload.readableBytes, limit: limit)
    }
    guard isConnected, let outgoing = outgoing.withLockedValue({ $0 }) else { throw .disconnected }
    if let waiting = outgoing.add((payload, subject), bytes: payload.readableBytes + 64) {
      throw .full(waiting: waiting)
    }
  }

  private func send(_ batch: Deque<(payload: ByteBuffer, subject: String)>) {
    guard let connection = state.withLockedValue({ $0.connection }) else { return }
    for (payload, subject) in batch {
      // If it fails, the connection is lost, and whoever misses the payload asks for it.
      unsafe payload.withUnsafeReadableBytes { bytes in
        _ = unsafe natsConnection_Publish(
          connection.pointer, subject, bytes.baseAddress, Int32(bytes.count))
      }
    }
  }

  /// Sends what waits, for ten seconds at most, and closes the connection.
  public func close() async {
    let wasClosed = state.withLockedValue { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    guard !wasClosed else { return }
    await withCheckedContinuation { done in
      queue.async {
        if let connection = self.state.withLockedValue({ $0.connection }) {
          unsafe natsConnection_FlushTimeout(connection.pointer, 10_000)
        }
        self.destroy()
        done.resume()
      }
    }
  }
}

/// A connection of the C client, whose functions may be called on any thread.
// Sendable: the client guards what the pointer leads to with locks of its own while it exists. Everything
// but the creation of the value happens on the carrier's queue, on which it is also destroyed, after it was
// taken out of the state. So nobody uses it afterwards. The closure is the receiver, which lives as long as
// the process.
@safe struct Connection: @unchecked Sendable {
  let pointer: OpaquePointer
  let closure: UnsafeMutableRawPointer?
}

// Sendable: for the same reason as the connection.
@safe private struct Subscription: @unchecked Sendable, Equatable {
  let pointer: OpaquePointer
  static func == (one: Self, other: Self) -> Bool { unsafe one.pointer == other.pointer }
}

/// What the C client's callbacks are given.
private final class Receiver: Sendable {
  private let receive: @Sendable (CarrierEvent) -> Void
  // The callbacks of messages and of the connection come on different threads.
  private let lock = NIOLock()
  private let owner = NIOLockedValueBox<WeakCarrier>(WeakCarrier(carrier: nil))

  private struct WeakCarrier: Sendable { weak var carrier: NATSCarrier? }

  init(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { self.receive = receive }

  var carrier: NATSCarrier? {
    get { owner.withLockedValue { $0.carrier } }
    set { owner.withLockedValue { $0.carrier = newValue } }
  }

  func tell(_ event: CarrierEvent) { lock.withLock { receive(event) } }
}

// Functions and not closures: they are called on threads of the client's, and so belong to no actor.

private func receiver(_ closure: UnsafeMutableRawPointer?) -> Receiver? {
  unsafe closure.map { unsafe Unmanaged<Receiver>.fromOpaque($0).takeUnretainedValue() }
}

private func onMessage(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  defer { unsafe natsMsg_Destroy(message) }
  let bytes = unsafe UnsafeRawBufferPointer(
    start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))
  unsafe receiver(closure)?.tell(.payload(ByteBuffer(bytes: bytes)))
}

private func onClosed(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  guard let receiver = unsafe receiver(closure) else { return }
  unsafe receiver.carrier?.lost(
    connection, receiver,
    "The connection was lost: \(unsafe lastError(of: connection) ?? "it was closed")")
}

private func onError(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
  _ closure: UnsafeMutableRawPointer?
) {
  let text = unsafe lastError(of: connection) ?? reason(of: status)
  unsafe receiver(closure)?.tell(.problem(text))
}

private func lastError(of connection: OpaquePointer?) -> String? {
  var text: UnsafePointer<CChar>?
  let status = unsafe natsConnection_GetLastError(connection, &text)
  guard status != NATS_OK else { return nil }
  let sentence = unsafe text.map { unsafe String(cString: $0) } ?? ""
  return sentence.isEmpty ? name(of: status) : sentence
}

/// The last error of this thread.
func reason(of status: natsStatus) -> String {
  let sentence = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
  return sentence.isEmpty ? name(of: status) : "\(name(of: status)): \(sentence)"
}

private func name(of status: natsStatus) -> String {
  unsafe String(cString: natsStatus_GetText(status))
}
