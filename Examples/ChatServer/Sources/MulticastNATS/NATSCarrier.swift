import CNATS
import Dispatch
import MulticastCarrier
import Synchronization

/// A carrier on a subject of a nats-server.
///
/// Connection, reconnection, resubscription and buffers are those of the official C client. What is published while no
/// server can be reached waits in the client's buffer, and is dropped and counted when that is full. Those who
/// reconnect later miss it: a carriage tells that as a gap.
public final class NATSCarrier: Carrier {
  private struct State: Sendable {
    var connection: Connection?
    var waiting = 0
    var limit = 1 << 20  // nats-server's default, until it has told its own
  }

  private let url: String
  private let subject: String
  private let capacity: Int
  private let state = Mutex(State())
  /// The client waits when the network does, so that nobody else has to.
  private let queue = DispatchQueue(label: "NATSCarrier")

  /// - Parameters:
  ///   - url: The server's address, or several with commas between them.
  ///   - subject: The subject that all processes publish to. It is not to be used for anything else.
  ///   - capacity: How many payloads may wait to be sent, and as many to be handled.
  public init(url: String, subject: String, capacity: Int = 10_000) {
    self.url = url
    self.subject = subject
    self.capacity = capacity
  }

  /// The server's `max_payload`, or 1 MiB before the server has told it.
  public var payloadLimit: Int { state.withLock { $0.limit } }

  /// Connects and subscribes. If there is no server, the client goes on trying.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) async {
    await withCheckedContinuation { done in
      queue.async {
        self.connect(Receiver(receive))
        done.resume()
      }
    }
  }

  private func connect(_ receiver: Receiver) {
    // The client's threads may call until they have ended, and nothing tells when. So the receiver lives as long as the
    // process, which has one carrier.
    let closure = unsafe Unmanaged.passRetained(receiver).toOpaque()
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    unsafe natsOptions_SetURL(options, url)
    unsafe natsOptions_SetNoEcho(options, true)
    unsafe natsOptions_SetMaxReconnect(options, -1)
    unsafe natsOptions_SetReconnectWait(options, 250)
    unsafe natsOptions_SetReconnectBufSize(options, 1 << 20)
    unsafe natsOptions_SetRetryOnFailedConnect(options, true, onConnected, closure)
    unsafe natsOptions_SetReconnectedCB(options, onConnected, closure)
    unsafe natsOptions_SetDisconnectedCB(options, onDisconnected, closure)
    unsafe natsOptions_SetErrorHandler(options, onError, closure)

    var pointer: OpaquePointer?
    let status = unsafe natsConnection_Connect(&pointer, options)
    guard let pointer = unsafe pointer, status == NATS_OK || status == NATS_NOT_YET_CONNECTED else {
      receiver.receive(.disconnected("\(url) is no address of a nats-server: \(text(of: status))."))
      return
    }
    let connection = unsafe Connection(pointer: pointer, receiver: receiver)
    receiver.connected.withLock { $0 = { [weak self] in self?.learnLimit() } }
    var subscription: OpaquePointer?
    let subscribed = unsafe natsConnection_Subscribe(
      &subscription, pointer, subject, onMessage, closure)
    guard subscribed == NATS_OK else {
      receiver.receive(
        .disconnected("\(subject) cannot be subscribed to: \(text(of: subscribed))."))
      return
    }
    unsafe natsSubscription_SetPendingLimits(subscription, Int32(capacity), -1)
    state.withLock { $0.connection = connection }
    if status == NATS_OK {
      // The server knows the subscription before anybody is told of the connection.
      unsafe natsConnection_FlushTimeout(pointer, 2_000)
      learnLimit()
      receiver.receive(.connected)
    } else {
      receiver.receive(.disconnected("There is no nats-server at \(url) yet."))
    }
  }

  private func learnLimit() {
    state.withLock { state in
      guard let connection = state.connection else { return }
      let limit = unsafe natsConnection_GetMaxPayload(connection.pointer)
      if limit > 0 { state.limit = Int(limit) }
    }
  }

  /// Leaves the payload to a queue, which hands it to the client.
  public func publish(_ payload: [UInt8]) throws(CarrierError) {
    let refused = state.withLock { state -> CarrierError? in
      guard payload.count <= state.limit else {
        return .tooLarge(bytes: payload.count, limit: state.limit)
      }
      guard state.waiting < capacity else { return .full(waiting: state.waiting) }
      state.waiting += 1
      // Under the lock, so that the payloads leave in the order of the calls.
      queue.async { self.send(payload) }
      return nil
    }
    if let refused { throw refused }
  }

  private func send(_ payload: [UInt8]) {
    let connection = state.withLock { state in
      state.waiting -= 1
      return state.connection
    }
    guard let connection else { return }
    let status = unsafe payload.withUnsafeBytes { bytes in
      unsafe natsConnection_Publish(
        connection.pointer, subject, bytes.baseAddress, Int32(bytes.count))
    }
    if status != NATS_OK { connection.receiver.receive(.dropped(1, .outgoing)) }
  }

  /// Sends what waits, for two seconds at most, and closes the connection.
  public func close() async {
    await withCheckedContinuation { done in
      queue.async {
        if let connection = self.state.withLock({ $0.connection.take() }) {
          unsafe natsConnection_FlushTimeout(connection.pointer, 2_000)
          unsafe natsConnection_Destroy(connection.pointer)
        }
        done.resume()
      }
    }
  }
}

/// A connection of the C client, whose functions may be called on any thread.
// Sendable: the client guards what the pointer leads to with locks of its own while it exists. It is destroyed on the
// queue on which payloads are sent, and only after it was taken out of the state, under whose lock the limit is asked for.
// So nobody uses it afterwards.
@safe private struct Connection: @unchecked Sendable {
  let pointer: OpaquePointer
  let receiver: Receiver
}

/// What the C client's callbacks are given.
private final class Receiver: Sendable {
  let receive: @Sendable (CarrierEvent) -> Void
  let connected = Mutex<@Sendable () -> Void>({})
  private let dropped = Mutex<Int64>(0)

  init(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { self.receive = receive }

  /// Takes the client's count of all that was dropped.
  func dropped(_ total: Int64) {
    let new = dropped.withLock { dropped in
      defer { dropped = max(dropped, total) }
      return total - dropped
    }
    if new > 0 { receive(.dropped(Int(new), .incoming)) }
  }
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
  unsafe receiver(closure)?.receive(.payload(Array(bytes)))
}

private func onConnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  guard let receiver = unsafe receiver(closure) else { return }
  receiver.connected.withLock { $0 }()
  receiver.receive(.connected)
}

private func onDisconnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe receiver(closure)?.receive(.disconnected("The connection to the nats-server was lost."))
}

private func onError(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
  _ closure: UnsafeMutableRawPointer?
) {
  guard status == NATS_SLOW_CONSUMER else { return }
  var total: Int64 = 0
  unsafe natsSubscription_GetDropped(subscription, &total)
  unsafe receiver(closure)?.dropped(total)
}

private func text(of status: natsStatus) -> String {
  unsafe String(cString: natsStatus_GetText(status))
}
