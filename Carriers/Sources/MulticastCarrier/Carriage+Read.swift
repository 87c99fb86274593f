import Multicast
import Tracing

extension Carriage {
  func startReading(_ line: Line) {
    let reader = Task(executorPreference: line.home) { [weak self] in
      var reading = Reading()
      while !Task.isCancelled, await self?.read(line, &reading) == true {}
    }
    line.own.atEnd { reader.cancel() }
  }

  private struct Reading {
    var position: Position?
    /// Where the reading began. Records before it are not for this process.
    var beginning = Position(epoch: 0, number: 0)
    /// Up to this position, the log is as it was read, and the engine dropped nothing unread.
    var checked: Position?
    var checkTime = ContinuousClock.now
    var inflow = Inflow()
    /// The hash of the newest record that was read, which may have been skipped.
    var newest: Int?
    /// Until the reading has reached what was the end of the log when it began or went back.
    var review: Review?
    var isCatchingUp: Bool { review?.isCatchingUp == true }
    /// The number of records to ask for. It is smaller after a loss, because the answer may have been too large for the
    /// engine.
    var limit = Reading.limit
    var failures = 0

    static let limit = 32
  }

  /// The reading of what a log already has.
  private struct Review {
    /// The end of the log when the review began; nil until the engine has said it.
    var end: Position?
    /// Whether nothing but the last value counts, because the topic had the others before the reading began.
    var isCatchingUp: Bool
    /// The last value, which is kept until the end is reached.
    var last: Frame?
    /// Whether the log is read again, because it has lost records or was created again.
    var isAgain = false
    /// The hash of the last record.
    var tail: Int?
  }

  /// Reads once, and delivers. Returns false when the line has ended.
  private func read(_ line: Line, _ reading: inout Reading) async -> Bool {
    do {
      guard let position = reading.position else {
        try await begin(line, &reading)
        return true
      }
      if let review = reading.review, review.end == nil {
        reading.review?.end = try await carrier.end(of: line.log)
      }
      if let end = reading.review?.end, end <= position {
        await endReview(line, &reading)
        // The line may have ended in a handler.
        guard !Task.isCancelled else { return false }
      }
      let records = try await carrier.read(line.log, after: position, limit: reading.limit)
      note(nil, line, \.in)
      reading.failures = 0
      // Ask for one more each time, so that an answer that was too large is not asked for again immediately.
      reading.limit = min(reading.limit + 1, Reading.limit)
      for record in records where !Task.isCancelled {
        // The record at the end was read, or the engine has dropped it. This one came later, so the log does not end behind this
        // process.
        if let end = reading.review?.end, end < record.position {
          await endReview(line, &reading, isLast: false)
          // The line may have ended in a handler. The center must not get another latest message then.
          guard !Task.isCancelled else { return false }
        }
        if let frame = take(record, of: line, &reading) {
          line.meters.lag.record(frame.age.map { Double($0) / 1_000 } ?? 0)
          if reading.isCatchingUp {
            reading.review?.last = frame
          } else {
            await line.deliver(self, line, frame)
          }
        }
        guard !Task.isCancelled else { return false }
        reading.position = record.position
        // The value that is kept until the end is reached has not been handled.
        if !reading.isCatchingUp { line.own.position.withLock { $0 = record.position } }
      }
      if records.isEmpty {
        // A carrier may return nothing before the end, and the record that was at the end may have been dropped. So ask again.
        if reading.review != nil { reading.review?.end = try await carrier.end(of: line.log) }
        reading.limit = Reading.limit
        line.meters.lag.record(0)
      }
      try await check(line, &reading)
    } catch CarrierError.beganAnew(let start) where !Task.isCancelled {
      // A process that goes on at a position of an earlier log begins with the latest value of this one.
      let isFirst =
        line.log.keepsLatest && reading.newest == nil && reading.position?.number ?? 0 > 0
      reading.review = Review(
        isCatchingUp: isFirst || reading.isCatchingUp, last: reading.review?.last, isAgain: true)
      (reading.position, reading.checked) = (start, start)
      reading.inflow.rewind()
      reading.newest = line.own.latest.withLock { $0.beginAnew() } ?? reading.newest
      tell(.beganAnew(type: line.type))
    } catch {
      // A line ends before its carrier is closed.
      guard !Task.isCancelled else { return false }
      if case CarrierError.disconnected = error { reading.limit = max(1, reading.limit / 2) }
      note(error, line, \.in)
      await pause(&reading.failures)
    }
    return true
  }

  private func begin(_ line: Line, _ reading: inout Reading) async throws {
    let end = try await carrier.end(of: line.log)
    // A line that has ended reports nothing: the type may be carried again.
    try Task.checkCancellation()
    note(nil, line, \.in)
    let beginning = Position(epoch: end.epoch, number: 0)
    let position =
      switch line.start {
      // Reads all records of a topic that keeps its latest, which are few, so that repeated ones are recognized.
      case .end: line.log.keepsLatest ? beginning : end
      case .beginning: beginning
      case .after(let place): place
      }
    let isCatchingUp = line.log.keepsLatest && end > position
    reading.review = isCatchingUp ? Review(end: end, isCatchingUp: true) : nil
    reading.inflow = Inflow(isSigned: keys.allSatisfy { $0 != nil })
    (reading.position, reading.checked, reading.beginning) = (position, position, position)
    if !isCatchingUp { line.own.position.withLock { $0 = position } }
    tell(.began(type: line.type))
  }

  /// Call this when the log has been read up to the end of the review.
  ///
  /// - Parameter isLast: Whether no later record is known.
  private func endReview(_ line: Line, _ reading: inout Reading, isLast: Bool = true) async {
    guard let review = reading.review.take(), !Task.isCancelled else { return }
    if var last = review.last {
      last.items = last.items.suffix(1)
      await line.deliver(self, line, last)
    }
    if let position = reading.position { line.own.position.withLock { $0 = position } }
    guard review.isAgain else { return }
    reading.inflow.endRewind()
    // The log ends with another value than the one that counts here, so each process that holds this one posts it
    // again.
    let isBehind = isLast && (review.tail == nil || review.tail != reading.newest)
    guard line.log.keepsLatest, isBehind else { return }
    let posted = line.own.latest.withLock(\.posted)
    let publish = line.latest(self, line)
    await waitUntilHeard(by: [line])
    // A value that waits to leave, or was posted meanwhile, ends the log instead.
    let isNewest = line.own.latest.withLock { $0.posted == posted }
    let waits = state.withLock { $0.outbox.count(line.sender.id) } > 0
    if isNewest, !waits, !Task.isCancelled { publish?() }
  }

  /// Finds losses that no record shows. Does so once a second if anything was read, and twice a minute otherwise.
  ///
  /// - Throws: `CarrierError.beganAnew` if the log ends before the position that was read. Either the engine has lost
  ///   the log's end, or another process has published a false position.
  private func check(_ line: Line, _ reading: inout Reading) async throws {
    guard let checked = reading.checked, let position = reading.position, reading.review == nil,
      .now - reading.checkTime > .seconds(checked == position ? 30 : 1)
    else { return }
    reading.checkTime = .now
    for (sender, missing) in reading.inflow.settle() where !isOwn(sender, in: line) {
      count(.gap(type: line.type, sender: "\(sender)", missing: 0), of: line, missing)
    }
    let end = try await carrier.end(of: line.log)
    try Task.checkCancellation()
    // The log of a topic of events may be empty because its records have expired.
    let isBefore =
      end.number == 0 ? line.log.keepsLatest : end.epoch != position.epoch || end < position
    if isBefore, position.number > 0 {
      let isSame = end.epoch == checked.epoch && checked <= end
      throw CarrierError.beganAnew(isSame ? checked : Position(epoch: end.epoch, number: 0))
    }
    // A sender's numbers show which records were dropped unread, unless the sender has posted nothing since, or nothing
    // before.
    if !line.log.keepsLatest, try await !carrier.isComplete(line.log, since: checked) {
      try Task.checkCancellation()
      tell(.gap(type: line.type, sender: nil, missing: nil))
    }
    reading.checked = position
  }

  /// Returns the part of a record that is to be delivered.
  private func take(_ record: Record, of line: Line, _ reading: inout Reading) -> Frame? {
    var frame: Frame
    do throws(Frame.Malformed) {
      frame = try Frame(record.bytes, from: line.log, keys: keys, limit: carrier.recordLimit)
    } catch {
      skip(line, error.description)
      return nil
    }
    // A sender may not know yet that the log was created again. If it is known here, its numbers show that the record is
    // new. For a latest value, that does not count, because processes that begin later must agree on it.
    let isKnown = !line.log.keepsLatest && reading.inflow.knows(frame.sender)
    if let epoch = frame.epoch, epoch != record.position.epoch, !isKnown {
      skip(line, "A record that was signed for an earlier log.")
      return nil
    }
    // While a log of events is read again, it repeats what other processes had posted before this one began.
    let isEarlier =
      reading.review?.isAgain == true && record.position.epoch == reading.beginning.epoch
      && record.position <= reading.beginning
    if isEarlier, !line.log.keepsLatest, !reading.inflow.knows(frame.sender) { return nil }
    let isOwn = isOwn(frame.sender, in: line)
    let count = UInt64(frame.items.count)
    let hash = hash(record.bytes, isSigned: frame.epoch != nil)
    let finding = reading.inflow.take(
      frame.sender, first: frame.first, count: frame.items.count, hash: hash)
    reading.review?.tail = hash
    if finding != .repeated { reading.newest = hash }
    switch finding {
    case .repeated:
      if !isOwn { state.withLock { $0.condition.repeated += count } }
      return nil
    case .disputed:
      let name = frame.sender.description.prefix(80).debugDescription
      skip(line, "Another process has written a record in the name of \(name).")
    case .new(let missing) where missing > 0 && !isOwn:
      self.count(.gap(type: line.type, sender: "\(frame.sender)", missing: 0), of: line, missing)
    case .new: break
    }
    if isOwn {
      // It replaces the value that is kept until the end is reached, and the center has it already.
      reading.review?.last = nil
      guard line.own.latest.withLock({ $0.noteReturn(frame.first + count - 1, hash: hash) }) else {
        return nil
      }
      frame.items = frame.items.suffix(1)
      return frame
    }
    guard frame.oldest <= line.version else {
      skip(line, "Version \(frame.version) is too new.", count)
      return nil
    }
    return frame
  }

  /// Whether a record is an own one. A latest value of this process from an earlier time at which it carried the topic is like
  /// another process's, because the center has forgotten it.
  private func isOwn(_ sender: Frame.Sender, in line: Line) -> Bool {
    line.log.keepsLatest ? sender.id == line.sender.id : sender.carriage == id
  }

  /// - Parameter reason: A text in one line, because it is logged.
  private func skip(_ line: Line, _ reason: String, _ count: UInt64 = 1) {
    self.count(.skipped(type: line.type, reason: reason, count: 0), of: line, count)
  }

  /// Posts the messages of one record, and returns when all handlers have run.
  func deliver<Message>(
    _ frame: Frame, of line: Line, to topic: Topic<Message>, _ codec: some MessageCodec<Message>
  ) async {
    let bodies = frame.items.map(\.body)
    // The array is mapped, because a conversion of it casts each element at run time.
    var messages: [Message?] = (try? codec.decode(bodies))?.map { $0 } ?? []
    if messages.count != bodies.count {
      messages = bodies.map { body in
        do {
          let alone = try codec.decode([body])
          if alone.count == 1 { return alone[0] }
          skip(line, "Its codec does not make one message of it.")
        } catch { skip(line, "It cannot be decoded: \("\(error)".prefix(200).debugDescription)") }
        return nil
      }
    }
    var last: Posted?
    var received = 0
    var service = ServiceContext.topLevel
    // Use indices, because the iterator of a zip looks up generic metadata for each element.
    for (index, item) in frame.items.enumerated() where !Task.isCancelled {
      // Usually, messages have no metadata. To compare other texts could take the square of their length.
      if index == 0 || !item.metadata.isEmpty || !frame.items[index - 1].metadata.isEmpty {
        service = .topLevel
        InstrumentationSystem.instrument.extract(
          item.metadata, into: &service, using: MetadataAccess())
      }
      guard let message = messages[index] else { continue }
      let context = CarriageContext(
        metadata: item.metadata, sender: frame.sender.name, hops: item.hops &+ 1,
        origin: (id, line.type))
      service = context.in(consume service)
      ServiceContext.withValue(service) { last = center.post(topic, message) }
      received += 1
    }
    await last?.delivered()
    // An own value that is posted again does not count as received.
    if !isOwn(frame.sender, in: line) {
      state.withLock { $0.condition.received += UInt64(received) }
      line.meters.received.increment(by: received)
      if let age = frame.age { line.meters.time.recordMilliseconds(age) }
    }
  }
}
