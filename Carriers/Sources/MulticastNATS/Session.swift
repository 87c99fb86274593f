import CNATS
import Foundation
import MulticastCarrier
import Synchronization

/// A connection of the C client, from its beginning to its end. It never connects again: the carrier makes another one.
///
/// All that comes in comes to one subscription: answers under the number of their request, records under the subject of
/// their topic, and what the server says of a consumer under its name.
final class Session: Sendable {
  // Sendable: the client guards what the pointers lead to with locks of its own. They are made, used and destroyed on the
  // queue, and nothing on the queue finds them in the state after they were destroyed.
  @safe private struct Handle: @unchecked Sendable {
    let connection: OpaquePointer
    let subscription: OpaquePointer
  }

  private struct Request {
    let done: CheckedContinuation<Answer, any Error>
    let since = ContinuousClock.now
  }

  private struct State {
    var handle: Handle?
    var messageLimit = 0
    /// Why it has ended.
    var end: CarrierError?
    var onEnd: CheckedContinuation<Void, Never>?
    var number: UInt64 = 0
    var requests: [UInt64: Request] = [:]
    /// By the server's names for them.
    var consumers: [String: Consumer] = [:]
    var names: [Log: String] = [:]
  }

  /// How long a request for records waits at the server, in nanoseconds.
  private static let expiry: Int64 = 5_000_000_000
  private static let silence = CarrierError.disconnected("The server does not answer.")
  private let queue = DispatchQueue(label: "NATSCarrier")
  private let inbox = "_INBOX.\(UInt64.random(in: 0 ... .max)).\(UInt64.random(in: 0 ... .max))."
  private let state = Mutex(State())

  // MARK: - Beginning and end

  /// Connects to the first server that answers.
  init(_ configuration: NATSConfiguration) async throws {
    try await withCheckedThrowingContinuation { done in
      queue.async { done.resume(with: Result { try self.connect(configuration) }) }
    }
    eachSecond(self) { $0.sweep() }
  }

  private func connect(_ configuration: NATSConfiguration) throws {
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    try check(unsafe configuration.configure(options))
    // The client calls on threads of its own, also after its functions for the end have returned. So it holds this object
    // once for each of its two callbacks. The first is let go by `onEnd`, which is called once and is the last call about a
    // connection; where there is no connection, there is no call. The second is let go by `onLastMessage`, after the
    // last message. If that cannot be set, as the connection has just ended, then this object stays for ever: that costs a
    // few hundred bytes, and a message that comes too late still finds it.
    let own = unsafe Unmanaged.passRetained(self)
    unsafe natsOptions_SetClosedCB(options, onClosed, own.toOpaque())
    var connection: OpaquePointer?
    let status = unsafe natsConnection_Connect(&connection, options)
    guard status == NATS_OK, let connection = unsafe connection else {
      defer { unsafe own.release() }
      throw error(status)
    }
    var subscription: OpaquePointer?
    let other = unsafe Unmanaged.passRetained(self)
    let second = unsafe natsConnection_Subscribe(
      &subscription, connection, inbox + ">", onMessage, other.toOpaque())
    guard second == NATS_OK, let subscription = unsafe subscription else {
      unsafe other.release()
      defer { unsafe natsConnection_Destroy(connection) }
      throw error(second)
    }
    unsafe natsSubscription_SetOnCompleteCB(subscription, onLastMessage, other.toOpaque())
    // What may wait is limited by what was asked for.
    unsafe natsSubscription_SetPendingLimits(subscription, -1, -1)
    let handle = unsafe Handle(connection: connection, subscription: subscription)
    let limit = unsafe Int(natsConnection_GetMaxPayload(connection))
    state.withLock { ($0.handle, $0.messageLimit) = (handle, limit) }
  }

  /// The size of the largest message that the server takes.
  var messageLimit: Int { state.withLock { $0.messageLimit } }

  /// Ends it. Whoever waits is told why.
  func end(_ error: CarrierError) {
    let old = state.withLock { state -> State? in
      guard state.end == nil else { return nil }
      defer {
        state.end = error
        (state.requests, state.consumers, state.names, state.onEnd) = ([:], [:], [:], nil)
      }
      return state
    }
    guard let old else { return }
    for request in old.requests.values { request.done.resume(throwing: error) }
    for consumer in old.consumers.values { consumer.waiter?.resume(throwing: error) }
    old.onEnd?.resume()
    queue.async {
      guard let handle = self.state.withLock({ $0.handle.take() }) else { return }
      unsafe natsConnection_Destroy(handle.connection)
      unsafe natsSubscription_Destroy(handle.subscription)
    }
  }

  /// Returns when it has ended.
  func ended() async {
    await withCheckedContinuation { done in
      let isOver = state.withLock { state in
        if state.end == nil { state.onEnd = done }
        return state.end != nil
      }
      if isOver { done.resume() }
    }
  }

  /// Ends it, and returns when it has ended.
  func close() async {
    end(.closed)
    await withCheckedContinuation { done in queue.async { done.resume() } }
  }

  /// Gives up what was not answered. Returns whether the session lasts.
  private func sweep() -> Bool {
    let now = ContinuousClock.now
    let (requests, names, lasts) = state.withLock { state in
      let requests = state.requests.filter { now - $0.value.since > .seconds(5) }
      for number in requests.keys { state.requests[number] = nil }
      let names = state.consumers.filter {
        $0.value.asked > 0 && now - $0.value.since > .seconds(8)
      }
      return (requests.values, names.keys, state.end == nil)
    }
    for request in requests { request.done.resume(throwing: Session.silence) }
    for name in names { end(ofConsumer: name, Session.silence) }
    return lasts
  }

  // MARK: - Requests

  /// Sends a message that is to be answered.
  ///
  /// - Parameter id: What JetStream knows the message by, if it is sent again.
  func request(_ subject: String, _ body: [UInt8], id: String? = nil) async throws -> Answer {
    try await withCheckedThrowingContinuation { done in
      let (number, end) = state.withLock { state in
        state.number += 1
        if state.end == nil { state.requests[state.number] = Request(done: done) }
        return (state.number, state.end)
      }
      if let end { return done.resume(throwing: end) }
      publish(body, to: subject, key: "\(number)", id)
    }
  }

  /// Asks JetStream.
  func ask(_ subject: String, _ body: String = "") async throws -> Answer {
    try await request("$JS.API." + subject, Array(body.utf8))
  }

  /// - Parameter key: What the answer comes under.
  private func publish(_ body: [UInt8], to subject: String, key: String, _ id: String? = nil) {
    queue.async {
      let handle = self.state.withLock { $0.end == nil ? $0.handle : nil }
      guard let handle else { return }
      var message: OpaquePointer?
      var status = unsafe body.withUnsafeBytes { bytes in
        unsafe natsMsg_Create(
          &message, subject, self.inbox + key, bytes.bindMemory(to: CChar.self).baseAddress,
          Int32(bytes.count))
      }
      defer { unsafe natsMsg_Destroy(message) }
      if status == NATS_OK, let id { status = unsafe natsMsgHeader_Set(message, "Nats-Msg-Id", id) }
      if status == NATS_OK {
        status = unsafe natsConnection_PublishMsg(handle.connection, message)
      }
      if status == NATS_OK { return }
      let limit = unsafe Int(natsConnection_GetMaxPayload(handle.connection))
      self.answer(
        key,
        .failure(
          status == NATS_MAX_PAYLOAD ? .tooLarge(bytes: body.count, limit: limit) : error(status)))
    }
  }

  private func answer(_ key: String, _ answer: Result<Answer, CarrierError>) {
    if let number = UInt64(key) {
      let request = state.withLock { $0.requests.removeValue(forKey: number) }
      request?.done.resume(with: answer.mapError { $0 })
    } else if case .failure(let error) = answer {
      end(ofConsumer: String(key.dropFirst()), error)
    }
  }

  // MARK: - Consumers

  /// The consumer that a topic has, if it goes on at a place.
  func consumer(_ log: Log, at position: Position) -> String? {
    let (name, goesOn) = state.withLock { state in
      let name = state.names[log]
      return (name, name.flatMap { state.consumers[$0] }?.position == position)
    }
    if let name, !goesOn { end(ofConsumer: name, nil) }
    return goesOn ? name : nil
  }

  func add(_ consumer: Consumer, _ name: String) {
    state.withLock { ($0.consumers[name], $0.names[consumer.log]) = (consumer, name) }
  }

  /// Returns what has come, or comes within a few seconds.
  func read(_ name: String, limit: Int) async throws -> [Record] {
    try await withCheckedThrowingContinuation { done in
      let (result, log) = state.withLock { state -> (Result<[Record], any Error>?, Log?) in
        if let end = state.end { return (.failure(end), nil) }
        guard let log = state.consumers[name]?.log else { return (.success([]), nil) }
        let records = state.consumers[name]?.take(limit) ?? []
        if !records.isEmpty { return (.success(records), nil) }
        return (nil, state.consumers[name]?.wait(done, limit) == true ? log : nil)
      }
      if let result { return done.resume(with: result) }
      guard let log else { return }
      let body = #"{"batch":\#(limit),"expires":\#(Session.expiry)}"#
      publish(
        Array(body.utf8), to: "$JS.API.CONSUMER.MSG.NEXT.\(log.stream).\(name)", key: "c" + name)
    }
  }

  /// The place from which on the server may have dropped records unread, if there is one. It is told once.
  func takeDoubt(_ log: Log) -> UInt64? {
    state.withLock { state in
      state.names[log].flatMap { state.consumers[$0]?.doubt.take() }
    }
  }

  /// The topic is read no more.
  func release(_ log: Log) {
    if let name = state.withLock({ $0.names[log] }) { end(ofConsumer: name, nil) }
  }

  /// Who waits is told an error, or gets what there is.
  private func end(ofConsumer name: String, _ error: CarrierError?) {
    let consumer = state.withLock { state in
      let consumer = state.consumers.removeValue(forKey: name)
      if let consumer { state.names[consumer.log] = nil }
      return consumer
    }
    guard let consumer else { return }
    if let error {
      consumer.waiter?.resume(throwing: error)
    } else {
      consumer.waiter?.resume(returning: [])
    }
    // Nobody waits for the answer. It ends by itself otherwise, in a minute.
    publish([], to: "$JS.API.CONSUMER.DELETE.\(consumer.log.stream).\(name)", key: "0")
  }

  // MARK: - What comes in

  /// On the client's thread.
  fileprivate func take(_ message: OpaquePointer) {
    let subject = unsafe String(cString: natsMsg_GetSubject(message))
    guard subject.hasPrefix(inbox) else { return unsafe takeRecord(message) }
    let key = String(subject.dropFirst(inbox.count))
    let status = unsafe status(of: message)
    if key.hasPrefix("c") { return takeStatus(status ?? "", ofConsumer: String(key.dropFirst())) }
    let content = unsafe bytes(of: message)
    answer(
      key,
      status == nil
        ? Result { try JSONDecoder().decode(Answer.self, from: Data(content)) }
          .mapError { .refused("\($0)") }
        : .failure(.refused("JetStream does not answer, or no stream has the subject.")))
  }

  private func takeStatus(_ status: String, ofConsumer name: String) {
    switch status {
    case "100": return
    // There was nothing, or a part of what was asked for.
    case "404", "408":
      let delivery = state.withLock { $0.consumers[name]?.finish() }
      delivery?.waiter.resume(returning: delivery?.records ?? [])
    // It is made anew where it has worked, without a word.
    default:
      let hasWorked = state.withLock { $0.consumers[name]?.hasWorked }
      end(ofConsumer: name, hasWorked == true ? nil : .refused("The consumer ends: \(status)"))
    }
  }

  private func takeRecord(_ message: OpaquePointer) {
    var metadata: UnsafeMutablePointer<jsMsgMetaData>?
    guard unsafe natsMsg_GetMetaData(&metadata, message) == NATS_OK,
      let place = unsafe metadata?.pointee, let name = unsafe place.Consumer
    else { return }
    defer { unsafe jsMsgMetaData_Destroy(metadata) }
    let content = unsafe bytes(of: message)
    let own = unsafe String(cString: name)
    let (stream, number, pending) = unsafe (
      place.Sequence.Stream, place.Sequence.Consumer, place.NumPending
    )
    let step = state.withLock { state in
      state.consumers[own]?.take(content, stream, number: number, pending: pending)
    }
    switch step {
    case .deliver(let delivery): delivery.waiter.resume(returning: delivery.records)
    // One was lost on the way.
    case .wrong: takeStatus("a record is missing", ofConsumer: own)
    case nil, .wait: break
    }
  }
}

// Functions and not closures: they are called on threads of the client's, and so belong to no actor.

private func session(_ closure: UnsafeMutableRawPointer?) -> Unmanaged<Session>? {
  unsafe closure.map { unsafe Unmanaged<Session>.fromOpaque($0) }
}

private func onMessage(
  _: OpaquePointer?, _: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  defer { unsafe natsMsg_Destroy(message) }
  guard let message = unsafe message else { return }
  unsafe session(closure)?.takeUnretainedValue().take(message)
}

private func onLastMessage(_ closure: UnsafeMutableRawPointer?) {
  unsafe session(closure)?.release()
}

private func onClosed(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  var sentence: UnsafePointer<CChar>?
  unsafe natsConnection_GetLastError(connection, &sentence)
  let reason = unsafe sentence.map { unsafe String(cString: $0) } ?? ""
  unsafe session(closure)?.takeRetainedValue()
    .end(.disconnected(reason.isEmpty ? "The connection was lost." : reason))
}

/// The code of a message that has no content but a status.
private func status(of message: OpaquePointer) -> String? {
  var status: UnsafePointer<CChar>?
  guard unsafe natsMsg_GetDataLength(message) == 0,
    unsafe natsMsgHeader_Get(message, "Status", &status) == NATS_OK, let status = unsafe status
  else { return nil }
  return unsafe String(cString: status)
}

private func bytes(of message: OpaquePointer) -> [UInt8] {
  unsafe Array(
    UnsafeRawBufferPointer(
      start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
}

/// What the client says of an error on this thread.
private func error(_ status: natsStatus) -> CarrierError {
  let name = unsafe String(cString: natsStatus_GetText(status))
  let text = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
  return .disconnected(text.isEmpty ? name : "\(name): \(text)")
}

private func check(_ status: natsStatus) throws { if status != NATS_OK { throw error(status) } }
