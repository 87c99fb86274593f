import CNATS
import Dispatch
import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// Reads in a stream, one thing after the other, on a queue that may wait for the server.
final class JetStreamReader: Sendable {
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
