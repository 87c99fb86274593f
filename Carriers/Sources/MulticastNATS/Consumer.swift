import CNATS
import MulticastCarrier
import Synchronization

/// An ephemeral pull consumer: the server sends as much as was asked for, and no more.
final class Consumer: Sendable {
  private struct State {
    /// What was asked for, has come, and was not read yet.
    var records: [Record] = []
    /// How many more the server may send.
    var asked = 0
    var waiter: CheckedContinuation<[Record], any Error>?
    var error: CarrierError?
    /// Behind what was read.
    var position: Position
    var sequence: UInt64 = 0
    /// From here on, the server may have dropped records before it sent them.
    var doubt: UInt64?
    var isBehind = false
    var used = ContinuousClock.now
    var subscription: UInt = 0

    mutating func takeRecords() -> [Record]? {
      guard let last = records.last else { return nil }
      position = last.position
      defer { records = [] }
      return records
    }
  }

  /// How long a request waits, in nanoseconds.
  private static let expiry: Int64 = 5_000_000_000
  let stream: String
  let name: String
  private let inbox = newInbox()
  /// Of the callbacks.
  private let number = Atomic<UInt>(0)
  private let state: Mutex<State>

  init(stream: String, name: String, _ position: Position, isSure: Bool) {
    (self.stream, self.name) = (stream, name)
    state = Mutex(State(position: position, doubt: isSure ? nil : position.number))
  }

  func continues(_ position: Position) -> Bool {
    state.withLock { $0.position == position && $0.error == nil }
  }

  /// Whether an answer is overdue, or nobody has read for long.
  var isOverdue: Bool {
    state.withLock { .now - $0.used > ($0.waiter == nil ? .seconds(50) : .seconds(8)) }
  }

  /// The place from which on something may be missing. It is told once.
  func takeDoubt() -> UInt64? {
    state.withLock { state in
      defer { state.doubt = state.isBehind ? state.position.number : nil }
      return state.doubt
    }
  }

  /// On the queue.
  func subscribe(_ connection: OpaquePointer) throws {
    let number = Receivers.add(self)
    var subscription: OpaquePointer?
    let status = unsafe natsConnection_Subscribe(
      &subscription, connection, inbox, onRecord, Receivers.pointer(number))
    do { try check(status) } catch {
      Receivers.remove(number)
      throw error
    }
    // The server sends as much as was asked for.
    unsafe natsSubscription_SetPendingLimits(subscription, -1, -1)
    let pointer = UInt(bitPattern: subscription)
    state.withLock { $0.subscription = pointer }
    self.number.store(number, ordering: .relaxed)
  }

  /// Asks for more, on the queue.
  func pull(_ count: Int, _ connection: OpaquePointer) {
    // Before anything can come.
    state.withLock { $0.asked = count }
    let status = unsafe natsConnection_PublishRequestString(
      connection, "$JS.API.CONSUMER.MSG.NEXT.\(stream).\(name)", inbox,
      #"{"batch":\#(count),"expires":\#(Consumer.expiry)}"#)
    if status != NATS_OK { fail(.disconnected(text(of: status))) }
  }

  func read(_ pull: @escaping @Sendable () -> Void) async throws -> [Record] {
    try await withCheckedThrowingContinuation { done in
      let (result, pulls): (Result<[Record], any Error>?, Bool) = state.withLock { state in
        state.used = .now
        if let error = state.error { return (.failure(error), false) }
        if let records = state.takeRecords() { return (.success(records), false) }
        state.waiter = done
        defer { if state.asked == 0 { state.asked = 1 } }
        return (nil, state.asked == 0)
      }
      if let result { done.resume(with: result) } else if pulls { pull() }
    }
  }

  /// Takes a message or a status, on a thread of the client's.
  fileprivate func take(_ message: OpaquePointer) {
    switch unsafe status(of: message) {
    case nil: break
    case "100": return
    // There was nothing, or a part of what was asked for.
    case "404", "408": return end()
    case let code?: return fail(.disconnected("The consumer has ended: \(code)"))
    }
    var metadata: UnsafeMutablePointer<jsMsgMetaData>?
    guard unsafe natsMsg_GetMetaData(&metadata, message) == NATS_OK,
      let place = unsafe metadata?.pointee
    else { return }
    defer { unsafe jsMsgMetaData_Destroy(metadata) }
    let content = unsafe bytes(of: message)
    let (stream, number, pending) = unsafe (
      place.Sequence.Stream, place.Sequence.Consumer, place.NumPending
    )
    typealias Step = (
      waiter: CheckedContinuation<[Record], any Error>?, records: [Record], isWrong: Bool
    )
    let (waiter, records, isWrong) = state.withLock { state -> Step in
      // Each that was sent has come, or else the consumer is made anew at the place that was read last.
      guard state.error == nil, number == state.sequence + 1 else {
        return (nil, [], state.error == nil)
      }
      state.sequence += 1
      state.asked = max(0, state.asked - 1)
      let position = Position(epoch: state.position.epoch, number: stream)
      state.records.append(Record(position: position, bytes: content))
      state.isBehind = pending > 0
      if state.isBehind, state.doubt == nil { state.doubt = stream }
      // More is coming at once.
      if state.isBehind, state.asked > 0 { return (nil, [], false) }
      guard let waiter = state.waiter.take() else { return (nil, [], false) }
      return (waiter, state.takeRecords() ?? [], false)
    }
    if isWrong { return fail(.disconnected("The consumer has skipped something.")) }
    waiter?.resume(returning: records)
  }

  private func end() {
    let (waiter, records) = state.withLock { state in
      state.asked = 0
      let waiter = state.waiter.take()
      return (waiter, waiter == nil ? [] : state.takeRecords() ?? [])
    }
    waiter?.resume(returning: records)
  }

  func fail(_ error: CarrierError) {
    let (waiter, subscription) = state.withLock { state in
      state.error = state.error ?? error
      defer { state.subscription = 0 }
      return (state.waiter.take(), state.subscription)
    }
    Receivers.remove(number.load(ordering: .relaxed))
    waiter?.resume(throwing: error)
    if let subscription = unsafe OpaquePointer(bitPattern: subscription) {
      unsafe natsSubscription_Destroy(subscription)
    }
  }
}

private func onRecord(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  defer { unsafe natsMsg_Destroy(message) }
  guard let message = unsafe message else { return }
  unsafe Receivers.find(closure, as: Consumer.self)?.take(message)
}

func newInbox() -> String {
  "_INBOX.\(UInt64.random(in: 0 ... .max)).\(UInt64.random(in: 0 ... .max))"
}

/// The code of a message that has no content but a status.
func status(of message: OpaquePointer) -> String? {
  var status: UnsafePointer<CChar>?
  guard unsafe natsMsg_GetDataLength(message) == 0,
    unsafe natsMsgHeader_Get(message, "Status", &status) == NATS_OK, let status = unsafe status
  else { return nil }
  return unsafe String(cString: status)
}

func bytes(of message: OpaquePointer) -> [UInt8] {
  unsafe Array(
    UnsafeRawBufferPointer(
      start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
}
