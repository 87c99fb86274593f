import MulticastCarrier
import NIOCore
import NIOPosix

/// Two connections, for commands and for published records. They end together, because another server may answer at the
/// same address by then.
final class RedisSession: EngineSession {
  private typealias Waiter = CheckedContinuation<[Record]?, any Error>

  /// A topic that this session listens to.
  private struct Topic {
    /// The position after the records that were read, if there were no more; nil while the stream must be read.
    var place: Position?
    /// The position after the published records that were received.
    var heard = Position(epoch: 0, number: 0)
    var waiter: Waiter?
  }

  private struct State {
    /// The first one is for commands, and the second one listens.
    var connections: [Task<any RESPConnection, any Error>] = []
    /// By channel.
    var topics: [String: Topic] = [:]
    /// Why the session has ended.
    var error: CarrierError?
    var hasTimedOut = false
  }

  private let state = Locked(State())
  /// The server's names of the scripts.
  let names = Locked<[String: String]>([:])

  /// Connects.
  ///
  /// - Parameters:
  ///   - isAnother: Whether there was a session before.
  ///   - patience: How long the server may be silent.
  init(_ own: RedisConfiguration, isAnother: Bool, patience: Duration) {
    // Use one thread, so that a process that has stored a record receives the published one at the same time as the
    // answer.
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    // With the lock held, because a connection that fails ends all that the session has.
    state.withLock { state in
      state.connections = (0..<2).map { _ in
        Task { [weak self] in
          // Wait, so that many clients that try again do not connect more often.
          if isAnother { try? await Task.sleep(for: .milliseconds(100)) }
          do {
            return try await RedisConnection.connect(own, for: self, on: loop, patience)
          } catch {
            let reason = CarrierError.disconnected("\(own.host):\(own.port): \(error)")
            self?.end(error as? CarrierError ?? reason)
            throw error
          }
        }
      }
    }
    repeatedly(every: .seconds(3)) { [weak self] in self?.endReads() }
  }

  var hasEnded: Bool { state.withLock { $0.error != nil } }
  var hasTimedOut: Bool { state.withLock { $0.hasTimedOut } }

  /// Called when the server has been silent for too long.
  func timeOut() { state.withLock { $0.hasTimedOut = true } }

  func end(_ error: CarrierError) {
    let (connections, topics) = state.withLock { state in
      state.error = state.error ?? error
      defer { (state.connections, state.topics) = ([], [:]) }
      return (state.connections, state.topics)
    }
    for topic in topics.values { topic.waiter?.resume(throwing: error) }
    for connection in connections { Task { try await connection.value.close() } }
  }

  /// Sends a command, over one of the two connections, and returns its answer.
  @discardableResult
  func send(
    _ command: [String], _ last: [UInt8]? = nil, isListening: Bool = false
  ) async throws -> Words {
    let connection = try state.withLock { state in
      if let error = state.error { throw error }
      return state.connections[isListening ? 1 : 0]
    }
    do { return try await connection.value.ask(command, last) } catch {
      throw state.withLock { $0.error } ?? error
    }
  }

  // MARK: What is heard

  /// From this position on, the session uses published records; nil if the stream must be read further. After a cancellation, the
  /// topic may be the next line's.
  func follow(_ key: String, from place: Position?) {
    state.withLock { if !Task.isCancelled { $0.topics[key]?.place = place } }
  }

  /// Listens to a topic, and waits for the next record after a position. Returns no records after a few seconds, and
  /// nil if the stream must be read.
  func next(_ key: String, after place: Position) async throws -> [Record]? {
    // Entered before the subscription, so that a release which ends the subscription forgets the topic, too.
    let isNew = state.withLock { state in
      defer { state.topics[key] = state.topics[key] ?? Topic() }
      return state.topics[key] == nil
    }
    do { if isNew { try await send(["SUBSCRIBE", key], isListening: true) } } catch {
      forget(key)
      throw error
    }
    return try await withCheckedThrowingContinuation { done in
      let waits = state.withLock { state in
        guard !Task.isCancelled, let topic = state.topics[key], topic.place == place,
          topic.heard <= place
        else {
          // The published records are in the stream, or were in another one.
          state.topics[key]?.place = nil
          state.topics[key]?.heard = Topic().heard
          return false
        }
        state.topics[key]?.waiter = done
        return true
      }
      if !waits { done.resume(returning: nil) }
    }
  }

  /// Receives a published record, on a thread of the connection.
  func hear(_ channel: ByteBuffer, _ content: ByteBuffer) {
    let parts = content.readableBytesView.split(
      separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    // Another version may write a position in another way.
    let place = parts.count == 2 ? Place(String(decoding: parts[0], as: UTF8.self)) : nil
    let position = place?.position ?? Topic().heard
    let key = String(buffer: channel)
    let (waiter, isNext) = state.withLock { state in
      guard var topic = state.topics[key] else { return (nil as Waiter?, false) }
      defer { state.topics[key] = topic }
      // The record was read before.
      if place != nil, let read = topic.place, read.epoch == position.epoch, position <= read {
        return (nil, false)
      }
      // Any client may publish, and the server may drop what was published. Therefore only the record that follows the
      // last one is trusted. For any other record, the stream is read.
      let isNext = topic.place != nil && topic.place == place?.before
      topic.heard = max(topic.heard, position)
      if !isNext { topic.place = nil } else if topic.waiter != nil { topic.place = position }
      return (topic.waiter.take(), isNext)
    }
    waiter?.resume(returning: isNext ? [Record(position: position, bytes: Array(parts[1]))] : nil)
  }

  /// Ends the reads that wait. Returns whether the session is still open.
  private func endReads() -> Bool {
    let waiters = state.withLock { state in
      state.topics.keys.compactMap { state.topics[$0]?.waiter.take() }
    }
    for waiter in waiters { waiter.resume(returning: []) }
    return !hasEnded
  }

  /// Stops listening to a topic.
  func release(_ key: String) {
    forget(key)
    Task {
      try await send(["UNSUBSCRIBE", key], isListening: true)
      // Forget it once more: a task that has returned meanwhile must subscribe again, because its subscription may have
      // been sent before this command.
      forget(key)
    }
  }

  private func forget(_ key: String) {
    state.withLock { $0.topics.removeValue(forKey: key) }?.waiter?.resume(returning: nil)
  }
}

/// The position of a record, and of the record before it.
struct Place {
  let position, before: Position

  /// Parses an epoch and the two positions. Any client may have written the second one. If it is not a position, there is none.
  init?(_ text: String) {
    // Bytes, because to find the characters of a text takes longer than the rest.
    let parts = text.utf8.split { " -".utf8.contains($0) }.map { UInt64(Substring($0)) }
    guard parts.count == 5, let epoch = parts[0], let number = parts[1], let part = parts[2] else {
      return nil
    }
    position = Position(epoch: epoch, number: number, part: part)
    before = Position(epoch: epoch, number: parts[3] ?? 0, part: parts[4] ?? 0)
  }
}
