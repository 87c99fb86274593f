import CNATS
import Foundation
import MulticastCarrier

/// A connection of the C client, from its beginning to its end. It never connects again, because the carrier creates
/// another one.
///
/// One subscription receives everything: answers under the number of their request, records under the subject of their
/// topic, and the server's messages about a consumer under a `c` and the consumer's name.
final class Session: EngineSession {
  // Sendable, because the client guards these objects with its own locks. They are created, used and destroyed on the
  // queue. Nothing on the queue finds them in the state after they were destroyed.
  @safe private struct Handle: @unchecked Sendable {
    let connection: OpaquePointer
    let subscription: OpaquePointer?
  }

  private struct State {
    var handle: Handle?
    /// Why the session has ended.
    var end: CarrierError?
    var number: UInt64 = 0
    var requests: [UInt64: Request] = [:]
    /// By the server's names of the consumers.
    var consumers: [String: Consumer] = [:]
    var names: [Log: String] = [:]
    /// The last number of each stream, when the server was last asked.
    var ends: [String: UInt64] = [:]
    var hasTimedOut = false
  }

  private struct Request {
    let subject: String
    let since: ContinuousClock.Instant
    let done: CheckedContinuation<Answer, any Error>
  }

  private let queue = DispatchQueue(label: "NATSCarrier")
  private let inbox: String
  private let patience: Duration
  private let configuration: NATSConfiguration
  private let state = Locked(State())
  private let messageLimit: Locked<Int>
  /// The known state of each stream.
  let streams = Locked<[String: Answer]>([:])

  // MARK: - Beginning and end

  /// Connects to the first server that answers.
  ///
  /// - Parameters:
  ///   - isAnother: Whether there was a session before.
  ///   - patience: How long the server may be silent.
  ///   - messageLimit: Receives the size of the largest message from the server.
  init(_ own: NATSConfiguration, isAnother: Bool, patience: Duration, messageLimit: Locked<Int>) {
    inbox = "\(own.inbox).\(UUID())."
    (self.patience, self.messageLimit, configuration) = (patience, messageLimit, own)
    queue.async {
      // Wait, so that many clients that try again do not connect more often. Published messages wait on the queue.
      if isAnother { Thread.sleep(forTimeInterval: 0.2) }
      do throws(CarrierError) { try self.connect() } catch { self.end(error) }
    }
    repeatedly(every: .seconds(1)) { [weak self] in self?.sweep() }
    repeatedly(every: .seconds(5)) { [weak self] in await self?.askForEnds() }
  }

  private func connect() throws(CarrierError) {
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    // The client calls on its own threads, even after its functions for the end have returned. Therefore it retains
    // this object once for each of its two callbacks. `onClosed` releases the first reference. It is called once, as
    // the last call about a connection; if there was no connection, there is no call. The second reference is released
    // when the client has finished the last message. If that callback cannot be set, because the connection has just
    // ended, this object is never released, so that a message that comes too late still finds it.
    let own = unsafe Unmanaged.passRetained(self)
    unsafe natsOptions_SetClosedCB(options, onClosed, own.toOpaque())
    var connection: OpaquePointer?
    var status = unsafe configuration.configure(options, patience)
    unsafe natsOptions_SetErrorHandler(options, onError, own.toOpaque())
    if status == NATS_OK { status = unsafe natsConnection_Connect(&connection, options) }
    guard status == NATS_OK, let connection = unsafe connection else {
      defer { unsafe own.release() }
      throw error(status)
    }
    var subscription: OpaquePointer?
    let other = unsafe Unmanaged.passRetained(self)
    status = unsafe natsConnection_Subscribe(
      &subscription, connection, inbox + ">", onMessage, other.toOpaque())
    if status != NATS_OK {
      unsafe other.release()
      end(error(status))
    }
    unsafe natsSubscription_SetOnCompleteCB(
      subscription, { unsafe session($0)?.release() }, other.toOpaque())
    // The requests limit how much can wait, unless the server sends more than was asked for.
    unsafe natsSubscription_SetPendingLimits(subscription, -1, 256 << 20)
    let handle = unsafe Handle(connection: connection, subscription: subscription)
    messageLimit.withLock { $0 = unsafe Int(natsConnection_GetMaxPayload(connection)) }
    state.withLock { $0.handle = handle }
  }

  var hasEnded: Bool { state.withLock { $0.end != nil } }
  var hasTimedOut: Bool { state.withLock { $0.hasTimedOut } }

  func end(_ error: CarrierError) {
    let error = error.without(configuration.secrets)
    let old = state.withLock { state in
      defer {
        let hasTimedOut = state.hasTimedOut || error.description.contains("Stale Connection")
        state = State(handle: state.handle, end: state.end ?? error, hasTimedOut: hasTimedOut)
      }
      return state
    }
    for request in old.requests.values { request.done.resume(throwing: error) }
    for consumer in old.consumers.values { consumer.waiter?.resume(throwing: error) }
    queue.async {
      guard let handle = self.state.withLock({ $0.handle.take() }) else { return }
      unsafe natsConnection_Destroy(handle.connection)
      unsafe natsSubscription_Destroy(handle.subscription)
    }
  }

  /// Ends the session, and returns when it has ended.
  func close() async {
    for name in state.withLock({ $0.consumers.keys }) { end(ofConsumer: name, .closed) }
    end(.closed)
    await withCheckedContinuation { done in queue.async { done.resume() } }
  }

  /// Ends requests that the server has not answered in time. Returns whether the session is still open.
  private func sweep() -> Bool {
    let (requests, consumers, end) = state.withLock { ($0.requests, $0.consumers, $0.end) }
    let error = CarrierError.disconnected("The server does not answer.")
    let late = requests.filter { .now - $0.value.since > patience }
    let overdue = consumers.filter { $0.value.isOverdue(patience) }
    if !late.isEmpty || !overdue.isEmpty { state.withLock { $0.hasTimedOut = true } }
    for number in late.keys { answer("\(number)", .failure(error)) }
    for name in overdue.keys { self.end(ofConsumer: name, error) }
    return end == nil
  }

  /// Asks for the end of each stream that is read. A topic without more records has been read up to there. Returns
  /// whether the session is still open.
  private func askForEnds() async -> Bool {
    for stream in state.withLock({ Set($0.names.keys.map(\.stream)) }) {
      let last = try? await ask("STREAM.INFO." + stream).state?.last_seq
      if let last { state.withLock { $0.ends[stream] = last } }
    }
    return !hasEnded
  }

  /// Handles a refusal of the server to publish to a subject, or to let this process receive answers.
  ///
  /// If the server refuses two subjects at the same time, the client keeps the words of the later refusal. The other request ends as
  /// one that was not answered, and is refused at the next attempt.
  fileprivate func refuse(_ reason: String) {
    // No subject contains a space.
    if reason.contains("for Subscription to") { return end(.disconnected(reason)) }
    let requests = state.withLock { $0.requests }
    for (number, request) in requests where reason.contains("\"\(request.subject)\"") {
      answer("\(number)", .failure(.refused(reason)))
    }
    // A consumer's requests for records have no number.
    for name in state.withLock({ Array($0.consumers.keys) }) where reason.contains(".\(name)\"") {
      answer("c" + name, .failure(.refused(reason)))
    }
  }

  // MARK: - Requests

  /// Sends a message, and returns the answer.
  ///
  /// - Parameter id: The identifier by which JetStream recognizes the message if it is sent again.
  func request(_ subject: String, _ body: [UInt8], id: String? = nil) async throws -> Answer {
    try await withCheckedThrowingContinuation { done in
      let (number, end) = state.withLock { state in
        state.number += 1
        if state.end == nil {
          state.requests[state.number] = Request(subject: subject, since: .now, done: done)
        }
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

  /// - Parameter key: The key under which the answer arrives.
  private func publish(_ body: [UInt8], to subject: String, key: String, _ id: String? = nil) {
    queue.async {
      guard let handle = self.state.withLock({ $0.handle }) else { return }
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
      if status != NATS_OK { self.answer(key, .failure(error(status))) }
    }
  }

  private func answer(_ key: String, _ answer: Result<Answer, CarrierError>) {
    let answer = answer.mapError { $0.without(configuration.secrets) }
    if let number = UInt64(key) {
      let request = state.withLock { $0.requests.removeValue(forKey: number) }
      request?.done.resume(with: answer.mapError { $0 })
    } else if case .failure(let error) = answer {
      end(ofConsumer: String(key.dropFirst()), error)
    }
  }

  // MARK: - Consumers

  /// Returns the records that a topic's consumer has received, or receives within a few seconds.
  func read(_ log: Log, limit: Int, with new: Consumer? = nil) async throws -> [Record] {
    try await withCheckedThrowingContinuation { done in
      let (step, end) = state.withLock { state -> (Consumer.Step?, (any Error)?) in
        // After a release, no task would look for the consumer again.
        guard state.end == nil, !Task.isCancelled else {
          return (nil, state.end ?? CancellationError())
        }
        if let new { (state.consumers[new.name], state.names[log]) = (new, new.name) }
        let (name, end) = (state.names[log] ?? "", state.ends[log.stream] ?? 0)
        return (state.consumers[name]?.read(done, limit, end: end), nil)
      }
      if let end {
        if let new { delete(new) }
        return done.resume(throwing: end)
      }
      perform(step ?? .deliver(done, []))
    }
  }

  private func perform(_ step: Consumer.Step?) {
    switch step {
    case .pull(let subject, let name, let count):
      // As many bytes as this number of small records, and at least the largest record.
      let bytes = max(count << 14, messageLimit.withLock(\.self) + 4_096)
      let body = #"{"batch":\#(count),"max_bytes":\#(bytes),"expires":5000000000}"#
      publish(Array(body.utf8), to: subject, key: "c" + name)
    case .deliver(let waiter, let records): waiter.resume(returning: records)
    case .end(let name, let error): end(ofConsumer: name, error)
    case nil, .wait: break
    }
  }

  /// Returns, once, the number of the stream from which on the server may have dropped records of a topic unread.
  func takeDoubt(_ log: Log) -> UInt64? {
    state.withLock { state in state.names[log].flatMap { state.consumers[$0]?.doubt.take() } }
  }

  /// Returns the consumer of a topic.
  func consumer(of log: Log) -> Consumer? {
    state.withLock { state in state.names[log].flatMap { state.consumers[$0] } }
  }

  /// Stops reading the topic.
  func release(_ log: Log) {
    if let name = state.withLock({ $0.names[log] }) { end(ofConsumer: name, nil) }
  }

  /// Ends a consumer. A read that waits throws the error, or returns no records.
  private func end(ofConsumer name: String, _ error: CarrierError?) {
    let consumer = state.withLock { state in
      let consumer = state.consumers.removeValue(forKey: name)
      if let consumer { state.names[consumer.log] = nil }
      return consumer
    }
    guard let consumer else { return }
    consumer.waiter?.resume(with: error.map { .failure($0) } ?? .success([]))
    delete(consumer)
  }

  /// Deletes the server's consumer. No task waits for the answer. If the request is lost, the server deletes the consumer after a
  /// minute.
  private func delete(_ consumer: Consumer) {
    let subject = "$JS.API.CONSUMER.DELETE.\(consumer.log.stream).\(consumer.name)"
    publish([], to: subject, key: "0")
  }

  // MARK: - What comes in

  /// Call this on the client's thread.
  fileprivate func take(_ message: OpaquePointer) {
    defer { unsafe natsMsg_Destroy(message) }
    let subject = unsafe String(cString: natsMsg_GetSubject(message))
    guard subject.hasPrefix(inbox) else { return unsafe takeRecord(message) }
    let key = String(subject.dropFirst(inbox.count))
    let status = unsafe status(of: message)
    if key.hasPrefix("c") {
      let name = String(key.dropFirst())
      return perform(state.withLock { $0.consumers[name]?.take(status ?? "") })
    }
    let none = CarrierError.refused("JetStream does not answer, or no stream has the subject.")
    if status != nil { return answer(key, .failure(none)) }
    let content = unsafe Data(bytes(of: message))
    let result = Result { try JSONDecoder().decode(Answer.self, from: content) }
    answer(key, result.mapError { .refused("\($0)") })
  }

  private func takeRecord(_ message: OpaquePointer) {
    var metadata: UnsafeMutablePointer<jsMsgMetaData>?
    guard unsafe natsMsg_GetMetaData(&metadata, message) == NATS_OK,
      let place = unsafe metadata?.pointee, let name = unsafe place.Consumer
    else { return }
    defer { unsafe jsMsgMetaData_Destroy(metadata) }
    let (own, content) = unsafe (String(cString: name), bytes(of: message))
    let (at, pending) = unsafe (place.Sequence, place.NumPending)
    perform(state.withLock { $0.consumers[own]?.take(content, at.Stream, at.Consumer, pending) })
  }
}

// Functions instead of closures, because the client's threads call them, so they must not be isolated to an actor.

private func session(_ closure: UnsafeMutableRawPointer?) -> Unmanaged<Session>? {
  unsafe closure.map { unsafe Unmanaged<Session>.fromOpaque($0) }
}

private func onMessage(
  _: OpaquePointer?, _: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  guard let message = unsafe message else { return }
  unsafe session(closure)?.takeUnretainedValue().take(message)
}

private func onClosed(_ connection: OpaquePointer?, _ closure: UnsafeMutableRawPointer?) {
  unsafe session(closure)?.takeRetainedValue().end(.disconnected(lastError(of: connection)))
}

private func onError(
  _ connection: OpaquePointer?, _: OpaquePointer?, _ status: natsStatus,
  _ closure: UnsafeMutableRawPointer?
) {
  guard status == NATS_NOT_PERMITTED else { return }
  unsafe session(closure)?.takeUnretainedValue().refuse(lastError(of: connection))
}

private func lastError(of connection: OpaquePointer?) -> String {
  var sentence: UnsafePointer<CChar>?
  unsafe natsConnection_GetLastError(connection, &sentence)
  let reason = unsafe sentence.map { unsafe String(cString: $0) } ?? ""
  return reason.isEmpty ? "The connection was lost." : reason
}

/// The status code of a message without contents.
private func status(of message: OpaquePointer) -> String? {
  guard unsafe natsMsg_GetDataLength(message) == 0, let code = unsafe header("Status", of: message)
  else { return nil }
  // There are several kinds of 409, which their descriptions distinguish.
  return unsafe code == "409" ? "409 \(header("Description", of: message) ?? "")" : code
}

private func header(_ name: String, of message: OpaquePointer) -> String? {
  var value: UnsafePointer<CChar>?
  guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
  return unsafe value.map { unsafe String(cString: $0) }
}

private func bytes(of message: OpaquePointer) -> [UInt8] {
  let count = unsafe Int(natsMsg_GetDataLength(message))
  return unsafe Array(UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count))
}

/// Returns the client's error on this thread.
private func error(_ status: natsStatus) -> CarrierError {
  let name = unsafe String(cString: natsStatus_GetText(status))
  let text = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
  return .disconnected(text.isEmpty ? name : "\(name): \(text)")
}
