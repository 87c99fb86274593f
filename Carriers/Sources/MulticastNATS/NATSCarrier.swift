import CNATS
import Foundation
import MulticastCarrier
import Synchronization

/// A carrier over the streams of NATS JetStream, with the official C client.
///
/// All topics of a prefix share a stream, with a subject for each. Topics that keep their latest have a stream of their own,
/// which keeps the last records of each of them for ever. A stream that is not there is made. The first server that answers
/// is used, and another one when it is lost.
public final class NATSCarrier: Carrier, Registry {
  private struct Append {
    let done: CheckedContinuation<UInt64, any Error>
    let log: Log
    let since = ContinuousClock.now
  }

  private struct State {
    /// When each stream was made, as this connection knows it.
    var streams: [String: UInt64] = [:]
    var appends: [UInt64: Append] = [:]
    var consumers: [Log: Consumer] = [:]
    var next: UInt64 = 0
    /// The subscription to acknowledgements, and the number of its callbacks.
    var acknowledgements: (subscription: UInt, number: UInt) = (0, 0)
  }

  private static let overhead = 256
  private let connection: NATSConnection
  private let inbox = newInbox()
  private let state = Mutex(State())

  /// Creates a carrier, which connects by itself.
  public init(_ configuration: NATSConfiguration) {
    connection = NATSConnection(configuration)
    connection.open { [weak self] reason in self?.lost(.disconnected(reason)) }
    eachSecond(self) { $0.sweep() }
  }

  /// The server's `max_payload`, less the headers.
  public var recordLimit: Int { connection.payloadLimit - NATSCarrier.overhead }

  /// Ends, after what was sent before.
  public func close() async {
    await connection.close()
    lost(.closed)
  }

  /// What was under way when the connection changed is tried again by who waits for it.
  private func lost(_ error: CarrierError) {
    let old = state.withLock { state in
      defer { state = State() }
      return state
    }
    Receivers.remove(old.acknowledgements.number)
    for append in old.appends.values { append.done.resume(throwing: error) }
    for consumer in old.consumers.values { drop(consumer, error) }
    if let subscription = unsafe OpaquePointer(bitPattern: old.acknowledgements.subscription) {
      unsafe natsSubscription_Destroy(subscription)
    }
  }

  private func drop(_ consumer: Consumer, _ error: CarrierError) {
    consumer.fail(error)
    connection.later { handle in
      // Nobody waits for the answer. It ends by itself otherwise, in a minute.
      unsafe natsConnection_PublishString(
        handle.connection, "$JS.API.CONSUMER.DELETE.\(consumer.stream).\(consumer.name)", "")
    }
  }

  private func sweep() -> Bool {
    let (consumers, appends) = state.withLock { state in
      let consumers = state.consumers.filter { $0.value.isOverdue }
      for log in consumers.keys { state.consumers[log] = nil }
      let appends = state.appends.filter { .now - $0.value.since > .seconds(5) }
      for key in appends.keys { state.appends[key] = nil }
      return (consumers.values, appends.values)
    }
    let error = CarrierError.disconnected("The server has not answered for 5 s.")
    for consumer in consumers { drop(consumer, error) }
    for append in appends { append.done.resume(throwing: error) }
    return !connection.isClosed
  }
}

// MARK: - Streams

extension Log {
  fileprivate var stream: String {
    prefix.replacing(".", with: "_") + (keepsLatest ? "_latest" : "")
  }
  fileprivate var subjects: String { "\(prefix).\(keepsLatest ? "latest" : "log")." }
  fileprivate var subject: String { subjects + name }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}

extension NATSCarrier {
  private struct Stream {
    let epoch, first, last: UInt64
  }

  /// The state of a stream, which is made if there is none. On the queue.
  private func stream(_ log: Log, _ handle: NATSConnection.Handle) throws -> Stream {
    var info: UnsafeMutablePointer<jsStreamInfo>?
    var status = unsafe js_GetStreamInfo(&info, handle.jetStream, log.stream, nil, nil)
    if status == NATS_NOT_FOUND { status = unsafe make(log, handle, &info) }
    try check(status)
    guard let state = unsafe info?.pointee else { throw CarrierError.refused("No stream.") }
    defer { unsafe jsStreamInfo_Destroy(info) }
    let stream = unsafe Stream(
      epoch: UInt64(bitPattern: state.Created), first: state.State.FirstSeq,
      last: state.State.LastSeq)
    self.state.withLock { $0.streams[log.stream] = stream.epoch }
    return stream
  }

  private func make(
    _ log: Log, _ handle: NATSConnection.Handle, _ info: inout UnsafeMutablePointer<jsStreamInfo>?
  ) -> natsStatus {
    let own = connection.configuration
    var stream = unsafe jsStreamConfig()
    unsafe jsStreamConfig_Init(&stream)
    unsafe stream.Storage = own.inMemory ? js_MemoryStorage : js_FileStorage
    unsafe stream.Replicas = own.replicas
    if log.keepsLatest {
      unsafe stream.MaxMsgsPerSubject = own.latestRecords
    } else {
      unsafe stream.MaxBytes = own.maxBytes
      unsafe stream.MaxAge = own.maxAge.nanoseconds
      unsafe stream.Duplicates = min(own.memory, own.maxAge).nanoseconds
    }
    return unsafe log.stream.withCString { name in
      unsafe "\(log.subjects)>".withCString { subject in
        var subjects: [UnsafePointer<CChar>?] = unsafe [subject]
        return unsafe subjects.withUnsafeMutableBufferPointer { subjects in
          unsafe stream.Name = name
          unsafe stream.Subjects = subjects.baseAddress
          unsafe stream.SubjectsLen = 1
          return unsafe js_AddStream(&info, handle.jetStream, &stream, nil, nil)
        }
      }
    }
  }

  /// Returns the end of the topic's stream.
  public func end(of log: Log) async throws -> Position {
    try await connection.use { handle in
      let stream = try self.stream(log, handle)
      return Position(epoch: stream.epoch, number: stream.last)
    }
  }
}

// MARK: - Out

extension NATSCarrier {
  /// Stores a record, and waits for the server's acknowledgement.
  public func append(_ record: [UInt8], to log: Log, id: String) async throws -> Position {
    guard record.count <= recordLimit else {
      throw CarrierError.tooLarge(bytes: record.count, limit: recordLimit)
    }
    let number: UInt64 = try await withCheckedThrowingContinuation { done in
      // Before the answer can come.
      let key = state.withLock { state in
        state.next += 1
        state.appends[state.next] = Append(done: done, log: log)
        return state.next
      }
      connection.begin {
        try self.publish(record, to: log, id, key, $0)
      } onFailure: { error in
        self.state.withLock { $0.appends.removeValue(forKey: key) }?.done.resume(throwing: error)
      }
    }
    return Position(epoch: state.withLock { $0.streams[log.stream] } ?? 0, number: number)
  }

  private func publish(
    _ record: [UInt8], to log: Log, _ id: String, _ key: UInt64, _ handle: NATSConnection.Handle
  ) throws {
    let (isNew, isDeaf) = state.withLock {
      ($0.streams[log.stream] == nil, $0.acknowledgements.subscription == 0)
    }
    if isNew { _ = try stream(log, handle) }
    if isDeaf { try subscribe(handle) }
    var message: OpaquePointer?
    try check(
      unsafe record.withUnsafeBytes { bytes in
        unsafe natsMsg_Create(
          &message, log.subject, "\(inbox).\(key)", bytes.bindMemory(to: CChar.self).baseAddress,
          Int32(bytes.count))
      })
    defer { unsafe natsMsg_Destroy(message) }
    try check(unsafe natsMsgHeader_Set(message, "Nats-Msg-Id", id))
    try check(unsafe natsConnection_PublishMsg(handle.connection, message))
  }

  /// On the queue.
  private func subscribe(_ handle: NATSConnection.Handle) throws {
    let number = Receivers.add(self)
    var subscription: OpaquePointer?
    try check(
      unsafe natsConnection_Subscribe(
        &subscription, handle.connection, inbox + ".*", onAcknowledgement,
        Receivers.pointer(number)))
    unsafe natsSubscription_SetPendingLimits(subscription, -1, -1)
    let pointer = UInt(bitPattern: subscription)
    state.withLock { $0.acknowledgements = (pointer, number) }
  }

  private struct Acknowledgement: Decodable {
    struct Refusal: Decodable { let description: String? }
    let stream: String?
    let seq: UInt64?
    let error: Refusal?
  }

  /// On a thread of the client's.
  fileprivate func acknowledged(_ key: UInt64, _ message: OpaquePointer) {
    let content = unsafe bytes(of: message)
    let isMissing = unsafe status(of: message) != nil
    let answer = try? JSONDecoder().decode(Acknowledgement.self, from: Data(content))
    let append = state.withLock { state in
      // Perhaps the stream was deleted: it is looked at before the next attempt.
      if answer?.seq == nil { state.streams = [:] }
      return state.appends.removeValue(forKey: key)
    }
    guard let append else { return }
    if isMissing {
      append.done.resume(throwing: CarrierError.refused("No stream has \(append.log.subject)."))
    } else if let reason = answer?.error?.description {
      let isTooLarge = reason.contains("message size exceeds maximum")
      append.done.resume(
        throwing: isTooLarge
          ? CarrierError.tooLarge(bytes: 0, limit: recordLimit) : .refused(reason))
    } else if let seq = answer?.seq, answer?.stream == append.log.stream {
      append.done.resume(returning: seq)
    } else {
      append.done.resume(
        throwing: CarrierError.refused("It was stored in another stream: \(answer?.stream ?? "?")"))
    }
  }
}

private func onAcknowledgement(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  defer { unsafe natsMsg_Destroy(message) }
  guard let message = unsafe message, let subject = unsafe natsMsg_GetSubject(message),
    let key = unsafe String(cString: subject).split(separator: ".").last.flatMap({ UInt64($0) })
  else { return }
  unsafe Receivers.find(closure, as: NATSCarrier.self)?.acknowledged(key, message)
}

// MARK: - In

extension NATSCarrier {
  /// Reads with a consumer of the server's, which is made anew where it is lost.
  public func read(_ log: Log, after position: Position, limit: Int) async throws -> [Record] {
    let old = state.withLock { $0.consumers[log] }
    let consumer: Consumer
    if let old, old.continues(position) {
      consumer = old
    } else {
      if let old { drop(old, .closed) }
      consumer = try await makeConsumer(log, after: position)
    }
    do {
      return try await consumer.read { [connection] in
        connection.later { unsafe consumer.pull(limit, $0.connection) }
      }
    } catch {
      state.withLock { if $0.consumers[log] === consumer { $0.consumers[log] = nil } }
      throw error
    }
  }

  private func makeConsumer(_ log: Log, after position: Position) async throws -> Consumer {
    try await connection.use { handle in
      let stream = try self.stream(log, handle)
      guard stream.epoch == position.epoch, position.number <= stream.last else {
        throw CarrierError.beganAnew(Position(epoch: stream.epoch, number: 0))
      }
      var configuration = unsafe jsConsumerConfig()
      unsafe jsConsumerConfig_Init(&configuration)
      unsafe configuration.DeliverPolicy = js_DeliverByStartSequence
      unsafe configuration.OptStartSeq = position.number + 1
      unsafe configuration.AckPolicy = js_AckNone
      unsafe configuration.MemoryStorage = true
      unsafe configuration.Replicas = 1
      unsafe configuration.InactiveThreshold = 60_000_000_000
      var info: UnsafeMutablePointer<jsConsumerInfo>?
      let status = unsafe log.subject.withCString { subject in
        unsafe configuration.FilterSubject = subject
        return unsafe js_AddConsumer(
          &info, handle.jetStream, log.stream, &configuration, nil, nil)
      }
      try check(status)
      guard let name = unsafe info?.pointee.Name else { throw CarrierError.refused("No consumer.") }
      defer { unsafe jsConsumerInfo_Destroy(info) }
      let isSure = position.number == 0 || stream.first <= position.number + 1
      let consumer = unsafe Consumer(
        stream: log.stream, name: String(cString: name), position, isSure: isSure)
      unsafe try consumer.subscribe(handle.connection)
      self.state.withLock { $0.consumers[log] = consumer }
      return consumer
    }
  }

  /// Asks for the stream's first record, if one may have been dropped.
  public func isComplete(_ log: Log, since position: Position) async throws -> Bool {
    guard let doubt = state.withLock({ $0.consumers[log] })?.takeDoubt() else { return true }
    let first = try await connection.use { try self.stream(log, $0).first }
    return first <= min(doubt, position.number) + 1
  }

  /// Ends the consumer.
  public func release(_ log: Log) {
    guard let consumer = state.withLock({ $0.consumers.removeValue(forKey: log) }) else { return }
    drop(consumer, .closed)
  }
}

// MARK: - Keys with an expiry

extension NATSCarrier {
  /// Keeps a value in a bucket of NATS's keys and values.
  public func register(
    _ value: [UInt8]?, as name: String, in prefix: String, expiry: Duration
  ) async throws -> [String: [UInt8]] {
    try await connection.use { handle in
      let bucket = prefix.replacing(".", with: "_") + "_here"
      var store: OpaquePointer?
      var status = unsafe js_KeyValue(&store, handle.jetStream, bucket)
      if status == NATS_NOT_FOUND {
        var configuration = unsafe kvConfig()
        unsafe kvConfig_Init(&configuration)
        unsafe configuration.TTL = expiry.nanoseconds
        unsafe configuration.Replicas = Int32(self.connection.configuration.replicas)
        unsafe configuration.StorageType = js_MemoryStorage
        status = unsafe bucket.withCString { bucket in
          unsafe configuration.Bucket = bucket
          return unsafe js_CreateKeyValue(&store, handle.jetStream, &configuration)
        }
      }
      try check(status)
      defer { unsafe kvStore_Destroy(store) }
      if let value {
        try check(
          unsafe value.withUnsafeBytes { bytes in
            unsafe kvStore_Put(nil, store, name, bytes.baseAddress, Int32(bytes.count))
          })
      } else {
        unsafe kvStore_Purge(store, name, nil)
      }
      var keys = unsafe kvKeysList()
      status = unsafe kvStore_Keys(&keys, store, nil)
      defer { unsafe kvKeysList_Destroy(&keys) }
      if status != NATS_NOT_FOUND { try check(status) }
      var values: [String: [UInt8]] = [:]
      for index in 0..<(unsafe Int(keys.Count)) {
        var entry: OpaquePointer?
        // It may have expired meanwhile.
        guard let key = unsafe keys.Keys[index],
          unsafe kvStore_Get(&entry, store, key) == NATS_OK
        else { continue }
        defer { unsafe kvEntry_Destroy(entry) }
        values[unsafe String(cString: key)] = unsafe Array(
          UnsafeRawBufferPointer(
            start: kvEntry_Value(entry), count: Int(kvEntry_ValueLen(entry))))
      }
      return values
    }
  }
}
