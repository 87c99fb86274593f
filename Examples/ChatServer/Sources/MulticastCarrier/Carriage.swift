import Foundation
import Multicast
import Synchronization

/// Carries topics of a center to the centers of other processes.
///
/// What is posted to a carried topic in this process is published. What comes in is posted to the center, and not
/// published again. Every message arrives at most once, and those of one process in the order in which they were posted
/// there. Local delivery does not wait for the network.
///
/// What goes wrong is reported on the topic `.carriage`.
public final class Carriage: Sendable {
  private typealias Post = @Sendable (ArraySlice<UInt8>, Envelope) async throws(Unreadable) -> Void

  private struct State {
    var posts: [String: Post] = [:]
    /// Threads that post what came in, each with the type of it, until the carriage has heard of it.
    var arriving: [ObjectIdentifier: String] = [:]
    var sequence: UInt64 = 0
    var dropped = 0
  }

  /// The name of this process among the others. It is new with each start.
  public let node: String
  private let center: MulticastCenter
  private let carrier: any Carrier
  private let state = Mutex(State())
  private let input: AsyncStream<CarrierEvent>
  private let arrive: AsyncStream<CarrierEvent>.Continuation

  /// - Parameter limit: How many messages may have come in and wait for the handlers. More are dropped and counted.
  public init(
    center: MulticastCenter, carrier: any Carrier, node: String = UUID().uuidString,
    waiting limit: Int = 10_000
  ) {
    self.center = center
    self.carrier = carrier
    self.node = node
    (input, arrive) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(limit))
  }

  /// Carries a topic from now on.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: What the message is called outside of this program. Each topic has a type of its own.
  ///   - version: The version of the message. A program skips newer ones than its own.
  public func carry<Message: Codable & Sendable>(
    _ topic: Topic<Message>, as type: String, version: Int = 1
  ) {
    let post: Post = { [weak self, center] bytes, envelope throws(Unreadable) in
      guard envelope.version <= version else {
        throw Unreadable(
          "\(type) has version \(envelope.version), and this program knows \(version).")
      }
      let message: Message
      do { message = try JSONDecoder().decode(Message.self, from: Data(bytes)) } catch {
        throw Unreadable("\(type) of \(envelope.node) cannot be decoded: \(error)")
      }
      await self?.arriving(type) { await center.postAndWait(topic, message) }
    }
    let isNew = state.withLock { $0.posts.updateValue(post, forKey: type) == nil }
    precondition(isNew, "\(type) is carried already.")
    // The handler has no home: it is called where the post is made, in the order of the posts.
    center.observe(topic, owner: self, id: type) { carriage, message in
      carriage.publish(message, as: type, version: version)
    }
  }

  /// Posts a message that is certain to be small enough to be carried.
  ///
  /// - Returns: When everybody in this process had it.
  /// - Throws: `CarrierError.tooLarge`. Then nobody gets the message.
  public func postAndWait<Message: Codable & Sendable>(
    _ topic: Topic<Message>, _ message: Message, as type: String
  ) async throws(CarrierError) {
    let envelope = Envelope(kind: .message, node: node, sequence: .max, type: type, version: .max)
    let size = envelope.payload(encode(message)).count
    let limit = carrier.payloadLimit
    guard size <= limit else { throw .tooLarge(bytes: size, limit: limit) }
    await center.postAndWait(topic, message)
  }

  /// Connects and posts what comes in, until it is cancelled or closed.
  public func run() async {
    await carrier.open { [weak self] event in
      guard let self else { return }
      if case .dropped = arrive.yield(event) { state.withLock { $0.dropped += 1 } }
    }
    var places = Places()
    for await event in input {
      let dropped = state.withLock { state in
        defer { state.dropped = 0 }
        return state.dropped
      }
      if dropped > 0 { report(.dropped(dropped, .incoming)) }
      switch event {
      case .connected:
        report(.connected)
        send(.hello)
      case .disconnected(let reason): report(.disconnected(reason))
      case .dropped(let count, let direction): report(.dropped(count, direction))
      case .payload(let payload):
        do { try await take(payload, &places) } catch { report(.skipped(error.reason)) }
      }
    }
  }

  /// Sends what waits, and ends.
  public func close() async {
    await carrier.close()
    arrive.finish()
  }

  private func take(_ payload: [UInt8], _ places: inout Places) async throws(Unreadable) {
    let (envelope, bytes) = try Envelope.open(payload)
    // Some engines bring back what was published here.
    guard envelope.node != node else { return }
    if envelope.kind == .hello {
      report(.joined(node: envelope.node))
      send(.place)
    }
    switch places.take(envelope) {
    case .next: break
    case .gap(let place, let missing): report(.gapPossible(since: place, missing: missing))
    case .again: throw Unreadable("Message \(envelope.sequence) of \(envelope.node) came before.")
    }
    guard envelope.kind == .message else { return }
    guard let post = state.withLock({ $0.posts[envelope.type] }) else {
      throw Unreadable("This program does not know \(envelope.type).")
    }
    try await post(bytes, envelope)
  }

  /// Marks what the body posts as having come in. Its handler here is called on this thread before the body suspends,
  /// and before what follows from the post.
  private nonisolated(nonsending) func arriving(
    _ type: String, _ body: nonisolated(nonsending) () async -> Void
  ) async {
    let thread = currentThread()
    state.withLock { $0.arriving[thread] = type }
    await body()
    state.withLock { if $0.arriving[thread] == type { $0.arriving[thread] = nil } }
  }

  private func publish<Message: Encodable>(_ message: Message, as type: String, version: Int) {
    let thread = currentThread()
    let cameIn = state.withLock { state in
      guard state.arriving[thread] == type else { return false }
      state.arriving[thread] = nil
      return true
    }
    if cameIn { return }
    let bytes = encode(message)
    let refused = state.withLock { state -> CarrierError? in
      // One lock for the number and the hand-over, so that the numbers leave in order.
      state.sequence += 1
      let envelope = Envelope(
        kind: .message, node: node, sequence: state.sequence, type: type, version: version)
      do throws(CarrierError) { try carrier.publish(envelope.payload(bytes)) } catch {
        return error
      }
      return nil
    }
    if let refused { report(.kept(type: type, refused)) }
  }

  private func send(_ kind: Envelope.Kind) {
    state.withLock { state in
      let envelope = Envelope(kind: kind, node: node, sequence: state.sequence)
      // If it is dropped, the next message tells the same.
      try? carrier.publish(envelope.payload())
    }
  }

  private func encode(_ message: some Encodable) -> [UInt8] {
    do { return Array(try JSONEncoder().encode(message)) } catch {
      preconditionFailure("A message must be encodable: \(error)")
    }
  }

  private func report(_ report: CarriageReport) { center.post(.carriage, report) }
}

/// The number of the last message of each process.
struct Places {
  enum Step: Equatable {
    case next
    case gap(since: CarriageReport.Place, missing: UInt64)
    case again
  }

  /// Foreign payloads with invented names shall not fill the memory.
  static let limit = 1_000
  private var last: [String: UInt64] = [:]
  var count: Int { last.count }

  mutating func take(_ envelope: Envelope) -> Step {
    let isMessage = envelope.kind == .message
    guard let known = last[envelope.node] else {
      if last.count >= Places.limit { last = [:] }
      last[envelope.node] = envelope.sequence
      return .next
    }
    if isMessage && envelope.sequence <= known { return .again }
    let expected = isMessage ? envelope.sequence - 1 : envelope.sequence
    last[envelope.node] = max(known, envelope.sequence)
    guard expected > known else { return .next }
    return .gap(
      since: CarriageReport.Place(node: envelope.node, sequence: known), missing: expected - known)
  }
}

/// What tells the threads that live now apart.
private func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
