import Multicast

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
    /// Up to here, nothing was dropped unread.
    var checked: Position?
    var checkTime = ContinuousClock.now
    var inflow = Inflow()
    /// Whether the last values of a topic come, which it had before: then only the very last one counts.
    var isCatchingUp = false
    /// Whether the log began anew, and nobody has said anything to it since: then the latest value here is told again.
    var isBare = false
    var failures = 0
  }

  /// Reads once, and delivers. Returns false at the end.
  private func read(_ line: Line, _ reading: inout Reading) async -> Bool {
    do {
      guard let position = reading.position else {
        try await begin(line, &reading)
        return true
      }
      // Where an engine tells the end of all topics, reading shows whether there is nothing.
      let isEmpty = try await reading.isBare ? carrier.end(of: line.log).number == 0 : false
      let records = try await isEmpty ? [] : carrier.read(line.log, after: position, limit: 32)
      note(nil, line, \.in)
      // What others have said to it meanwhile is later.
      if reading.isBare, records.isEmpty { line.publishLatest(self, line) }
      (reading.isBare, reading.failures) = (false, 0)
      var last: Frame?
      for record in records where !Task.isCancelled {
        if let frame = take(record, of: line, &reading) {
          if reading.isCatchingUp { last = frame } else { await line.deliver(self, line, frame) }
        }
        guard !Task.isCancelled else { return false }
        reading.position = record.position
        line.own.position.withLock { $0 = record.position }
      }
      if var last, !Task.isCancelled {
        last.items = last.items.suffix(1)
        await line.deliver(self, line, last)
      }
      reading.isCatchingUp = false
      try await check(line, &reading)
    } catch CarrierError.beganAnew(let start) {
      (reading.position, reading.checked) = (start, start)
      line.own.latest.withLock { $0.beginAnew() }
      tell(.beganAnew(type: line.type))
      reading.isBare = line.log.keepsLatest
    } catch {
      // Before the carrier is closed, its lines end.
      guard !Task.isCancelled else { return false }
      note(error, line, \.in)
      await Carriage.pause(&reading.failures)
    }
    return true
  }

  private func begin(_ line: Line, _ reading: inout Reading) async throws {
    let end = try await carrier.end(of: line.log)
    note(nil, line, \.in)
    let beginning = Position(epoch: end.epoch, number: 0)
    let position =
      switch line.start {
      // What is repeated shows if all that there is is read: it is not much.
      case .end: line.log.keepsLatest ? beginning : end
      case .beginning: beginning
      case .after(let place): place
      }
    reading.isCatchingUp = line.log.keepsLatest && end > position
    reading.inflow = Inflow(isWhole: !line.log.keepsLatest && end == beginning)
    (reading.position, reading.checked) = (position, position)
    tell(.began(type: line.type))
  }

  /// Once a second, if anything was read: what was dropped unread shows in the numbers of its senders, unless they
  /// have said nothing since.
  private func check(_ line: Line, _ reading: inout Reading) async throws {
    guard !line.log.keepsLatest, let checked = reading.checked, checked != reading.position,
      .now - reading.checkTime > .seconds(1)
    else { return }
    let isComplete = try await carrier.isComplete(line.log, since: checked)
    if !isComplete { tell(.gap(type: line.type, sender: nil, missing: nil)) }
    (reading.checked, reading.checkTime) = (reading.position, .now)
  }

  /// Returns what is to be delivered of a record.
  private func take(_ record: Record, of line: Line, _ reading: inout Reading) -> Frame? {
    guard var frame = try? Frame(record.bytes) else {
      skip(line, "A record that no carriage has written.")
      return nil
    }
    let isOwn = frame.sender.carriage == id
    let count = UInt64(frame.items.count)
    let hash = hash(record.bytes)
    let finding = reading.inflow.take(
      frame.sender.id, first: frame.first, count: frame.items.count, hash: hash)
    switch finding {
    case .repeated:
      if !isOwn { state.withLock { $0.condition.repeated += count } }
      return nil
    case .disputed:
      let name = frame.sender.description.prefix(80).debugDescription
      skip(line, "Somebody speaks in the name of \(name).")
    case .new(let missing):
      if missing > 0, !line.log.keepsLatest, !isOwn {
        self.count(.gap(type: line.type, sender: "\(frame.sender)", missing: 0), missing)
      }
    }
    if isOwn {
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
    let isAhead =
      line.log.keepsLatest && line.own.latest.withLock { $0.isAhead(of: record.position) }
    return isAhead ? nil : frame
  }

  private func skip(_ line: Line, _ reason: String, _ count: UInt64 = 1) {
    self.count(.skipped(type: line.type, reason: reason, count: 0), count)
  }

  /// Posts what one record has brought, and returns when all handlers have run.
  func deliver<Message>(
    _ frame: Frame, of line: Line, to topic: Topic<Message>, _ codec: some MessageCodec<Message>
  ) async {
    let bodies = frame.items.map(\.body)
    var messages: [Message?] = (try? codec.decode(bodies)) ?? []
    if messages.count != bodies.count {
      messages = bodies.map { body in
        do {
          let alone = try codec.decode([body])
          if alone.count == 1 { return alone[0] }
          skip(line, "Its codec does not make one message of it.")
        } catch { skip(line, "It cannot be decoded: \("\(error)".prefix(200))") }
        return nil
      }
    }
    var last: Posted?
    for (place, item) in frame.items.enumerated() {
      guard let message = messages[place] else { continue }
      let context = CarriageContext(
        metadata: item.metadata, sender: frame.sender.name, hops: item.hops &+ 1,
        mark: Mark(nil, by: line))
      CarriageContext.$current.withValue(context) { last = center.post(topic, message) }
    }
    await last?.delivered()
    state.withLock { $0.condition.received += UInt64(bodies.count) }
  }
}
