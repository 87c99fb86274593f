import CNATS
import Foundation
import MulticastCarrier
import Synchronization

/// Objects that callbacks of the C client are given as a number.
///
/// The client calls on threads of its own, also after a connection was destroyed. A number that comes too late finds
/// nobody, and nothing is kept alive for it.
enum Receivers {
  private struct Entry { weak var object: (AnyObject & Sendable)? }
  private static let all = Mutex<(last: UInt, entries: [UInt: Entry])>((0, [:]))

  static func add(_ object: AnyObject & Sendable) -> UInt {
    all.withLock { all in
      all.last += 1
      all.entries[all.last] = Entry(object: object)
      return all.last
    }
  }

  static func remove(_ number: UInt) { all.withLock { _ = $0.entries.removeValue(forKey: number) } }

  static func find<Object>(_ closure: UnsafeMutableRawPointer?, as type: Object.Type) -> Object? {
    let number = UInt(bitPattern: closure)
    // The caller lets go of it, without the lock.
    return all.withLock { $0.entries[number]?.object } as? Object
  }

  static func pointer(_ number: UInt) -> UnsafeMutableRawPointer? {
    unsafe UnsafeMutableRawPointer(bitPattern: number)
  }
}

/// A connection of the C client, which connects again by itself. What may wait for the network runs on its queue.
final class NATSConnection: Sendable {
  // Sendable: the client guards what the pointers lead to with locks of its own while it exists. They are made, used
  // and destroyed on the queue, after they were taken out of the state.
  @safe struct Handle: @unchecked Sendable {
    let connection: OpaquePointer
    let jetStream: OpaquePointer?
    let number: UInt
  }

  private struct State {
    var handle: Handle?
    /// Of the callbacks of the connection that counts.
    var number: UInt = 0
    var reason = "It is not connected yet."
    var isConnected = false
    var isClosed = false
    var payloadLimit = 1 << 20  // nats-server's default, until it has told its own
    var onChange: (@Sendable (String) -> Void)?
  }

  let configuration: NATSConfiguration
  private let queue = DispatchQueue(label: "NATSCarrier")
  private let state = Mutex(State())

  /// - Parameter onChange: Is told that the connection was lost, or is another one. On any thread.
  init(_ configuration: NATSConfiguration) { self.configuration = configuration }

  deinit {
    guard let handle = state.withLock({ $0.handle.take() }) else { return }
    Receivers.remove(handle.number)
    queue.async { NATSConnection.destroy(handle) }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }
  var payloadLimit: Int { state.withLock { $0.payloadLimit } }

  func open(onChange: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.onChange = onChange }
    queue.async { [weak self] in self?.connect() }
  }

  private func connect() {
    if let old = state.withLock({ $0.handle.take() }) { NATSConnection.destroy(old) }
    let number = Receivers.add(self)
    guard
      state.withLock({ state in
        state.number = number
        return !state.isClosed
      })
    else { return Receivers.remove(number) }
    let closure = unsafe Receivers.pointer(number)
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    var status = unsafe configuration.configure(options)
    unsafe natsOptions_SetDisconnectedCB(options, onDisconnected, closure)
    unsafe natsOptions_SetReconnectedCB(options, onConnected, closure)
    unsafe natsOptions_SetRetryOnFailedConnect(options, true, onConnected, closure)
    // It gives up when a password is refused twice.
    unsafe natsOptions_SetClosedCB(options, onClosed, closure)
    unsafe natsOptions_SetErrorHandler(options, onError, closure)
    var connection: OpaquePointer?
    if status == NATS_OK { status = unsafe natsConnection_Connect(&connection, options) }
    if status == NATS_OK || status == NATS_NOT_YET_CONNECTED, let connection = unsafe connection {
      var options = unsafe jsOptions()
      unsafe jsOptions_Init(&options)
      unsafe options.Wait = 3_000
      var jetStream: OpaquePointer?
      unsafe natsConnection_JetStream(&jetStream, connection, &options)
      let handle = unsafe Handle(connection: connection, jetStream: jetStream, number: number)
      state.withLock { $0.handle = handle }
      if status == NATS_OK { unsafe changed(number, connection, nil) }
    } else {
      state.withLock { $0.reason = text(of: status) }
      Receivers.remove(number)
    }
    again()
  }

  /// Looks once a second whether the client has given up.
  private func again() {
    queue.asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self, !isClosed else { return }
      let handle = state.withLock { $0.handle }
      let isOver = handle.map { unsafe natsConnection_IsClosed($0.connection) } ?? true
      if isOver { connect() } else { again() }
    }
  }

  /// On a thread of the client's. No lock is held while others are told.
  fileprivate func changed(_ number: UInt, _ connection: OpaquePointer?, _ reason: String?) {
    let limit = unsafe reason == nil ? natsConnection_GetMaxPayload(connection) : 0
    let onChange: (@Sendable (String) -> Void)? = state.withLock { state in
      guard state.number == number else { return nil }
      state.isConnected = reason == nil
      if let reason { state.reason = reason }
      if limit > 0 { state.payloadLimit = Int(limit) }
      return state.onChange
    }
    onChange?(reason ?? "The connection is a new one.")
  }

  fileprivate func failed(_ reason: String) {
    state.withLock { if !$0.isConnected { $0.reason = reason } }
  }

  /// Runs a body that may wait on the queue, with the connection if it stands.
  func use<Result: Sendable>(
    _ body: @escaping @Sendable (Handle) throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { done in
      begin {
        done.resume(returning: try body($0))
      } onFailure: {
        done.resume(throwing: $0)
      }
    }
  }

  /// Runs a body that may wait on the queue, with the connection if it stands. Does not wait for it.
  func begin(
    _ body: @escaping @Sendable (Handle) throws -> Void,
    onFailure fail: @escaping @Sendable (any Error) -> Void
  ) {
    queue.async {
      let (handle, error) = self.state.withLock { state in
        let error = state.isClosed ? CarrierError.closed : .disconnected(state.reason)
        return (state.isConnected && !state.isClosed ? state.handle : nil, error)
      }
      guard let handle else { return fail(error) }
      do { try body(handle) } catch { fail(error) }
    }
  }

  /// Does something that nobody waits for.
  func later(_ body: @escaping @Sendable (Handle) -> Void) {
    queue.async { if let handle = self.state.withLock({ $0.handle }) { body(handle) } }
  }

  func close() async {
    state.withLock { ($0.isClosed, $0.onChange) = (true, nil) }
    await withCheckedContinuation { done in
      queue.async {
        let handle = self.state.withLock { state in
          (state.isConnected, state.number) = (false, 0)
          return state.handle.take()
        }
        if let handle { NATSConnection.destroy(handle) }
        done.resume()
      }
    }
  }

  private static func destroy(_ handle: Handle) {
    Receivers.remove(handle.number)
    unsafe natsConnection_Close(handle.connection)
    unsafe jsCtx_Destroy(handle.jetStream)
    unsafe natsConnection_Destroy(handle.connection)
  }
}

// Functions and not closures: they are called on threads of the client's, and so belong to no actor.

private func told(
  _ closure: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ reason: String?
) {
  unsafe Receivers.find(closure, as: NATSConnection.self)?
    .changed(UInt(bitPattern: closure), connection, reason)
}

private func onConnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe told(closure, connection, nil)
}

private func onDisconnected(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe told(closure, connection, lastError(of: connection) ?? "The connection was lost.")
}

private func onClosed(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe told(
    closure, connection, lastError(of: connection) ?? "The server has refused the connection.")
}

private func onError(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ status: natsStatus,
  _ closure: UnsafeMutableRawPointer?
) {
  let reason = unsafe lastError(of: connection) ?? text(of: status)
  unsafe Receivers.find(closure, as: NATSConnection.self)?.failed(reason)
}

private func lastError(of connection: OpaquePointer?) -> String? {
  var sentence: UnsafePointer<CChar>?
  let status = unsafe natsConnection_GetLastError(connection, &sentence)
  guard status != NATS_OK else { return nil }
  let text = unsafe sentence.map { unsafe String(cString: $0) } ?? ""
  return text.isEmpty ? unsafe String(cString: natsStatus_GetText(status)) : text
}

/// The last error of this thread.
func text(of status: natsStatus) -> String {
  let text = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
  let name = unsafe String(cString: natsStatus_GetText(status))
  return text.isEmpty ? name : "\(name): \(text)"
}

func check(_ status: natsStatus) throws(CarrierError) {
  switch status {
  case NATS_OK: return
  case NATS_TIMEOUT, NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_NO_SERVER:
    throw .disconnected(text(of: status))
  case NATS_NO_RESPONDERS: throw .refused("JetStream does not answer, or the server has none.")
  default: throw .refused(text(of: status))
  }
}
