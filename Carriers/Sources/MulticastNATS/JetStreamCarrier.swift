import CNATS
import Dispatch
import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// A carrier over the subjects of a nats-server with JetStream, in whose stream what was published is kept. So a
/// process that was away also receives what one has said that has ended meanwhile.
///
/// The stream takes the subjects under `stored.<its name>.`. It is made if it is not there.
public final class JetStreamCarrier: ReplayingCarrier {
  private let live: NATSCarrier
  private let stream: JetStream
  private let reader: JetStreamReader

  /// Creates a carrier that is not connected yet.
  ///
  /// - Parameters:
  ///   - stream: The name of the stream: letters, digits, `-` and `_`. One that is there already is used as it is.
  ///   - length: How many payloads of each topic a new stream keeps.
  ///   - inMemory: Whether a new stream is kept in the server's memory only, and so ends with it.
  public init(
    _ configuration: NATSCarrier.Configuration, stream: String = "multicast", length: Int = 10_000,
    inMemory: Bool = false
  ) {
    let stream = JetStream(name: stream, length: length, inMemory: inMemory)
    self.stream = stream
    live = NATSCarrier(configuration) { connection in
      do {
        let context = try unsafe JetStream.context(connection.pointer)
        defer { unsafe jsCtx_Destroy(context) }
        _ = try unsafe stream.state(context)
        return nil
      } catch { return "\(error)" }
    }
    reader = JetStreamReader(stream, live)
  }

  /// The server's `max_payload`, or 1 MiB before the server has told it.
  public var payloadLimit: Int { live.payloadLimit }

  /// Connects, and connects again after each loss.
  public func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { live.open(receive) }

  /// Receives the payloads of a subject, those that are stored and those that are not.
  public func subscribe(to subject: String) {
    live.subscribe(to: subject)
    live.subscribe(to: stream.subject(subject))
  }

  /// Receives the payloads of a subject no longer.
  public func unsubscribe(from subject: String) {
    live.unsubscribe(from: subject)
    live.unsubscribe(from: stream.subject(subject))
  }

  /// Publishes a payload that is not kept.
  public func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: subject)
  }

  /// Publishes a payload where the stream takes it, too.
  public func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try live.publish(payload, to: stream.subject(subject))
  }

  /// Reads in the stream, over a connection of its own.
  public func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads {
    try await reader.read(stream.subject(subject), after: position)
  }

  /// Sends what waits, for ten seconds at most, and closes the connections.
  public func close() async {
    await live.close()
    await reader.close()
  }
}

/// What the server has refused, in its own words.
private struct Refusal: Error, CustomStringConvertible {
  let description: String

  /// Throws unless all is well.
  static func check(_ status: natsStatus) throws {
    guard status == NATS_OK else {
      let hint = status == NATS_NO_RESPONDERS ? ". Perhaps it runs without JetStream." : ""
      throw Refusal(description: "The server refuses a stream: \(reason(of: status))\(hint)")
    }
  }
}

/// The stream, and how it is made.
private struct JetStream: Sendable {
  let name: String
  let length: Int
  let inMemory: Bool

  func subject(_ subject: String) -> String { "stored.\(name).\(subject)" }

  static func context(_ connection: OpaquePointer) throws -> OpaquePointer {
    var options = unsafe jsOptions()
    unsafe jsOptions_Init(&options)
    unsafe options.Wait = 2_000
    var context: OpaquePointer?
    try unsafe Refusal.check(natsConnection_JetStream(&context, connection, &options))
    guard let context = unsafe context else { throw Refusal(description: "There is no JetStream.") }
    return unsafe context
  }

  /// The epoch of the stream, and the number of its last payload.
  func state(_ context: OpaquePointer) throws -> (epoch: String, last: UInt64) {
    var info: UnsafeMutablePointer<jsStreamInfo>?
    var status = unsafe js_GetStreamInfo(&info, context, name, nil, nil)
    // If another process is faster, the server finds that it is the same.
    if status == NATS_NOT_FOUND { status = unsafe make(&info, context) }
    try Refusal.check(status)
    defer { unsafe jsStreamInfo_Destroy(info) }
    guard let state = unsafe info?.pointee else {
      throw Refusal(description: "There is no stream.")
    }
    return unsafe ("\(state.Created)", state.State.LastSeq)
  }

  private func make(
    _ info: inout UnsafeMutablePointer<jsStreamInfo>?, _ context: OpaquePointer
  ) -> natsStatus {
    var configuration = unsafe jsStreamConfig()
    unsafe jsStreamConfig_Init(&configuration)
    unsafe configuration.MaxMsgsPerSubject = Int64(length)
    unsafe configuration.Storage = inMemory ? js_MemoryStorage : js_FileStorage
    return unsafe name.withCString { name in
      unsafe subject(">").withCString { subject in
        var subjects: [UnsafePointer<CChar>?] = unsafe [subject]
        return unsafe subjects.withUnsafeMutableBufferPointer { subjects in
          unsafe configuration.Name = name
          unsafe configuration.Subjects = subjects.baseAddress
          unsafe configuration.SubjectsLen = 1
          return unsafe js_AddStream(&info, context, &configuration, nil, nil)
        }
      }
    }
  }
}

/// Reads in a stream, one thing after the other, on a queue that may wait for the server.
private final class JetStreamReader: Sendable {
  /// How many payloads are read at once.
  private static let count: Int32 = 64
  private let stream: JetStream
  private let live: NATSCarrier
  private let queue = DispatchQueue(label: "JetStreamReader")
  private let handle = NIOLockedValueBox<Handle?>(nil)
  private let isClosed = NIOLockedValueBox(false)

  // Sendable: the client guards what the pointers lead to with locks of its own while it exists. They are made, used
  // and destroyed on the queue; or when the reader ends, which nothing on the queue outlives.
  @safe private struct Handle: @unchecked Sendable {
    let connection: OpaquePointer
    let context: OpaquePointer
  }

  init(_ stream: JetStream, _ live: NATSCarrier) {
    self.stream = stream
    self.live = live
  }

  deinit { disconnect() }

  func close() async {
    isClosed.withLockedValue { $0 = true }
    await withCheckedContinuation { done in
      queue.async {
        self.disconnect()
        done.resume()
      }
    }
  }

  func read(_ subject: String, after position: StoredPosition?) async throws -> StoredPayloads {
    try await withCheckedThrowingContinuation { done in
      queue.async {
        let known = self.handle.withLockedValue { $0 != nil }
        var result = Result { try self.page(subject, after: position) }
        // The connection may have been lost since it was used last.
        if case .failure = result, known {
          result = Result { try self.page(subject, after: position) }
        }
        done.resume(with: result)
      }
    }
  }

  private func page(_ subject: String, after position: StoredPosition?) throws -> StoredPayloads {
    guard !isClosed.withLockedValue({ $0 }) else { throw CarrierError.closed }
    do {
      let context = try unsafe connect()
      let (epoch, last) = try unsafe stream.state(context)
      var page = StoredPayloads([], end: .init(epoch: epoch, offset: "\(last)"), hasMore: false)
      guard let position else { return page }
      let start = position.epoch == epoch ? UInt64(position.offset) ?? 0 : 0
      guard start < last else { return page }
      try unsafe read(context, subject, after: start, into: &page)
      // What was read is of the stream whose epoch is told.
      guard try unsafe stream.state(context).epoch == epoch else {
        throw Refusal(description: "The stream was made anew in between.")
      }
      return page
    } catch {
      disconnect()
      throw error
    }
  }

  private func connect() throws -> OpaquePointer {
    if let handle = handle.withLockedValue({ $0 }) { return unsafe handle.context }
    var options: OpaquePointer?
    unsafe natsOptions_Create(&options)
    defer { unsafe natsOptions_Destroy(options) }
    if let refused = unsafe live.configure(options) { throw Refusal(description: refused) }
    var connection: OpaquePointer?
    try unsafe Refusal.check(natsConnection_Connect(&connection, options))
    guard let connection = unsafe connection else { throw Refusal(description: "No connection.") }
    do {
      let handle = unsafe Handle(
        connection: connection, context: try JetStream.context(connection))
      self.handle.withLockedValue { $0 = handle }
      return unsafe handle.context
    } catch {
      unsafe natsConnection_Destroy(connection)
      throw error
    }
  }

  private func disconnect() {
    guard let handle = handle.withLockedValue({ $0.take() }) else { return }
    unsafe jsCtx_Destroy(handle.context)
    unsafe natsConnection_Destroy(handle.connection)
  }

  private func read(
    _ context: OpaquePointer, _ subject: String, after start: UInt64,
    into page: inout StoredPayloads
  ) throws {
    var options = unsafe jsSubOptions()
    unsafe jsSubOptions_Init(&options)
    unsafe options.Config.DeliverPolicy = js_DeliverByStartSequence
    unsafe options.Config.OptStartSeq = start + 1
    unsafe options.Config.MemoryStorage = true
    unsafe options.Config.InactiveThreshold = 10_000_000_000
    var subscription: OpaquePointer?
    try unsafe stream.name.withCString { name in
      unsafe options.Stream = name
      try unsafe Refusal.check(
        js_PullSubscribe(&subscription, context, subject, nil, nil, &options, nil))
    }
    defer {
      unsafe natsSubscription_Unsubscribe(subscription)
      unsafe natsSubscription_Destroy(subscription)
    }
    var info: UnsafeMutablePointer<jsConsumerInfo>?
    try unsafe Refusal.check(natsSubscription_GetConsumerInfo(&info, subscription, nil, nil))
    let pending = unsafe info?.pointee.NumPending ?? 0
    unsafe jsConsumerInfo_Destroy(info)
    guard pending > 0 else { return }
    var list = unsafe natsMsgList()
    try unsafe Refusal.check(
      natsSubscription_Fetch(
        &list, subscription, Int32(min(pending, UInt64(Self.count))), 5_000, nil))
    defer { unsafe natsMsgList_Destroy(&list) }
    for index in 0..<Int(unsafe list.Count) {
      let message = unsafe list.Msgs[index]
      var metadata: UnsafeMutablePointer<jsMsgMetaData>?
      try unsafe Refusal.check(natsMsg_GetMetaData(&metadata, message))
      defer { unsafe jsMsgMetaData_Destroy(metadata) }
      page.payloads.append(
        unsafe ByteBuffer(
          bytes: UnsafeRawBufferPointer(
            start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message)))))
      guard let place = unsafe metadata?.pointee else { continue }
      unsafe page.end.offset = "\(place.Sequence.Stream)"
      unsafe page.hasMore = place.NumPending > 0
    }
  }
}
