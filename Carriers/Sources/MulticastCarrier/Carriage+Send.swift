import Multicast
import Tracing

extension Carriage {
  private static let hopLimit: UInt16 = 1_000

  func encode<Message>(
    _ message: Message, _ codec: some MessageCodec<Message>, _ context: CarriageContext
  ) throws(CarrierError) -> [UInt8] {
    guard context.hops <= Carriage.hopLimit else { throw .loop }
    var metadata = context.metadata
    if let service = ServiceContext.current {
      InstrumentationSystem.instrument.inject(service, into: &metadata, using: MetadataAccess())
    }
    guard metadata.keys.allSatisfy({ $0.utf8.count <= Frame.keyLimit }) else {
      throw .notEncodable("A key of its metadata is longer than \(Frame.keyLimit) bytes.")
    }
    let item: [UInt8]
    do {
      item = try Frame.item(hops: context.hops, metadata) {
        try codec.encode(message, into: &$0)
      }
    } catch { throw .notEncodable(String("\(error)".prefix(200))) }
    let limit = min(
      carrier.recordLimit - Frame.headerLimit, limits.waitingBytes - Outbox.overhead)
    guard item.count <= limit else { throw .tooLarge(bytes: item.count, limit: limit) }
    return item
  }

  /// Call this in the line's home, in the order of the center.
  func heard<Message>(_ message: Message, of line: Line, _ codec: some MessageCodec<Message>) {
    let context = CarriageContext.current
    guard context.take(by: line) else { return publish(message, of: line, codec, context) }
    if let item = context.item { return add(item, to: line) }
    line.own.latest.withLock { $0.noteCameIn() }
  }

  /// Call this in the line's home.
  func publish<Message>(
    _ message: Message, of line: Line, _ codec: some MessageCodec<Message>,
    _ context: CarriageContext
  ) {
    do throws(CarrierError) {
      // Do not encode a message that the outbox cannot take, so that the carriage keeps up with a sender that posts
      // without a pause.
      guard state.withLock({ $0.outbox.hasRoom(for: 0) }) else { throw .full }
      let item = try encode(message, codec, context)
      guard state.withLock({ $0.outbox.reserve(item.count) }) else { throw .full }
      add(item, to: line)
    } catch {
      count(.kept(type: line.type, reason: error, count: 0), of: line)
    }
  }

  private func add(_ item: [UInt8], to line: Line) {
    line.own.latest.withLock { $0.noteOwn() }
    let time = wallClock
    let (starts, reason): (Bool?, CarrierError) = change { state in
      let starts = state.outbox.add(item, to: line.sender.id, at: time)
      return (starts, state.isClosed ? .closed : .notCarried)
    }
    guard let starts else {
      return count(.kept(type: line.type, reason: reason, count: 0), of: line)
    }
    guard starts else { return }
    line.own.sender.withLock { $0 = Task(executorPreference: line.home) { await self.send(line) } }
  }

  /// Sends the waiting messages of a topic, one record after the other. Call this in the line's home.
  private func send(_ line: Line) async {
    // Wait until the home adds nothing more, or there are enough messages for a record: messages that are posted in a row share
    // records, and a single message does not wait for others.
    var old = 0
    while case let count = state.withLock({ $0.outbox.count(line.sender.id) }), count > old,
      count < Outbox.recordMessages
    {
      old = count
      await Task.yield()
    }
    var failures = 0
    /// The identifier of a record that may have been stored already.
    var id: UInt64?
    while true {
      let (next, waiting) = state.withLock { state in
        (state.outbox.next(line.sender.id), state.outbox.count(line.sender.id))
      }
      line.meters.waiting.record(waiting)
      guard let packed = next else { return }
      do {
        let (record, epoch) = try await record(packed, of: line)
        if line.log.keepsLatest {
          let hash = hash(record, isSigned: epoch != nil)
          line.own.latest.withLock { $0.noteSent(packed.last, hash: hash) }
        }
        let own = id ?? .random(in: 0 ... .max)
        id = own
        let end = try await carrier.append(record, to: line.log, id: own)
        id = nil
        if let epoch {
          line.own.epoch.withLock { $0 = end.epoch }
          // The log was created again. Processes that do not know the sender refuse the record, so sign it once more.
          if epoch != end.epoch { continue }
        }
        line.own.latest.withLock { $0.noteStored() }
        change { state in
          state.condition.sent += UInt64(packed.items.count)
          state.outbox.finish(line.sender.id)
        }
        line.meters.sent.increment(by: packed.items.count)
        note(nil, line, \.out)
        failures = 0
      } catch CarrierError.closed {
        return
      } catch CarrierError.tooLarge(_, let limit) {
        id = nil
        guard packed.items.count == 1 else {
          state.withLock { $0.outbox.split(line.sender.id) }
          continue
        }
        note(nil, line, \.out)
        _ = line.own.latest.withLock { $0.noteReturn() }
        change { $0.outbox.finish(line.sender.id) }
        let reason = CarrierError.tooLarge(bytes: packed.items[0].count, limit: limit)
        count(.kept(type: line.type, reason: reason, count: 0), of: line)
      } catch {
        // The engine may have refused the identifier. If it has stored the record nevertheless, readers skip the second one.
        if case CarrierError.refused = error { id = nil }
        note(error, line, \.out)
        await pause(&failures)
      }
    }
  }

  /// Returns the record of messages, and the epoch for which it is signed; nil if it is not signed.
  private func record(
    _ packed: Outbox.Packed, of line: Line
  ) async throws -> (record: [UInt8], epoch: UInt64?) {
    let record = Frame.write(line.sender, version: line.version, oldest: line.oldest, packed)
    guard let key = keys[0] else { return (record, nil) }
    let known = line.own.epoch.withLock(\.self)
    let epoch = if let known { known } else { try await carrier.end(of: line.log).epoch }
    return (Frame.sign(record, for: line.log, epoch: epoch, key), epoch)
  }

  // MARK: Reports about the engine

  /// In or out.
  typealias Direction = WritableKeyPath<
    (in: [String: String], out: [String: String]), [String: String]
  >

  /// The engine has or has not done what the carriage asked for. Reports a change of the connection or of a refusal.
  func note(_ error: (any Error)?, _ line: Line, _ direction: Direction) {
    let text: String? =
      switch error {
      case CarrierError.refused(let text)?, CarrierError.disconnected(let text)?: text
      default: error.map { "\($0)" }
      }
    let reason = text.map { String($0.prefix(300)) }
    let news: CarriageReport? = change { state in
      // A line that has ended does not speak for the one that carries its type now.
      let isOpen = state.outbox.isOpen(line.sender.id)
      if let reason, case CarrierError.refused? = error {
        guard isOpen else { return nil }
        let old = state.refusals[keyPath: direction].updateValue(reason, forKey: line.type)
        return old == reason ? nil : .refused(type: line.type, reason: reason)
      }
      if reason == nil, isOpen { state.refusals[keyPath: direction][line.type] = nil }
      let connection = reason.map { CarriageState.Connection.disconnected($0) } ?? .connected
      state.hasAnswered = true
      guard !state.isClosed, state.condition.connection != connection else { return nil }
      state.condition.connection = connection
      return reason.map { .disconnected($0) } ?? .connected
    }
    if news == .connected { Meters.connections.increment() }
    if let news { tell(news) }
  }

  /// Waits, longer with each failure and up to 30 seconds, for a random time so that processes do not try again
  /// together. It sleeps in parts, because `close()` waits for the next attempt.
  func pause(_ failures: inout Int) async {
    let pause = Int.random(in: Carriage.pauses(after: failures))
    let end = ContinuousClock.now + .milliseconds(pause)
    failures += 1
    repeat {
      try? await Task.sleep(until: min(end, .now + .seconds(1)), clock: .continuous)
    } while !Task.isCancelled && .now < end && state.withLock { $0.closing.isEmpty }
  }

  /// The shortest and the longest pause after a number of failures in a row, in milliseconds.
  static func pauses(after failures: Int) -> ClosedRange<Int> {
    let longest = min(30_000, 50 << min(failures, 10))
    return longest / 2...longest
  }
}
