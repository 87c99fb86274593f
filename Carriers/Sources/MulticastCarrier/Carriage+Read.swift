import Multicast

extension Carriage {
  private static let batch = 32

  func startReading(_ line: Line) {
    guard line.deliver != nil else { return }
    line.state.withLock { state in
      guard !state.isStopped, state.reader == nil else { return }
      state.reader = Task { [weak self] in
        var reading = Reading()
        // Holds the carriage while it reads only.
        while !Task.isCancelled, await self?.read(line, &reading) == true {}
      }
    }
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
    var pause = Pause()
  }

  /// Reads once, and delivers. Returns false at the end.
  private func read(_ line: Line, _ reading: inout Reading) async -> Bool {
    do {
      guard let position = reading.position else {
        try await begin(line, &reading)
        return true
      }
      if reading.isBare { try await tellAgain(line, &reading) }
      let records = try await carrier.read(line.log, after: position, limit: Carriage.batch)
      succeeded(line, .incoming)
      if reading.isBare, records.isEmpty { home.async { line.publishLatest(self, line) } }
      reading.isBare = false
      reading.pause = Pause()
      var last: Line.Delivery?
      for record in records {
        if let delivery = take(record, of: line, &reading) {
          if reading.isCatchingUp { last = delivery } else { await deliver(delivery, of: line) }
        }
        guard !Task.isCancelled else { return false }
        reading.position = record.position
        state.withLock { $0.positions[line.type] = record.position }
      }
      if let last { await deliver(last.latest, of: line) }
      reading.isCatchingUp = false
      try await check(line, &reading)
    } catch CarrierError.beganAnew(let start) {
      (reading.position, reading.checked) = (start, start)
      line.beginAnew()
      tell(.beganAnew(type: line.type))
      reading.isBare = line.log.keepsLatest
    } catch CarrierError.closed {
      return false
    } catch {
      guard !Task.isCancelled else { return false }
      failed(error, line, .incoming)
      await reading.pause.wait()
    }
    return true
  }

  private func begin(_ line: Line, _ reading: inout Reading) async throws {
    let end = try await carrier.end(of: line.log)
    succeeded(line, .incoming)
    let beginning = Position(epoch: end.epoch, number: 0)
    let position: Position
    switch line.start {
    // What is repeated shows if all that there is is read: it is not much.
    case .end: position = line.log.keepsLatest ? beginning : end
    case .beginning: position = beginning
    case .after(let place): position = place
    }
    reading.isCatchingUp = line.log.keepsLatest && end > position
    reading.inflow = Inflow(isWhole: !line.log.keepsLatest && end == beginning)
    (reading.position, reading.checked) = (position, position)
    tell(.began(type: line.type))
  }

  /// What others have said meanwhile is later. Where an engine tells the end of all topics, reading shows it.
  private func tellAgain(_ line: Line, _ reading: inout Reading) async throws {
    guard try await carrier.end(of: line.log).number == 0 else { return }
    reading.isBare = false
    home.async { line.publishLatest(self, line) }
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
  private func take(_ record: Record, of line: Line, _ reading: inout Reading) -> Line.Delivery? {
    guard let frame = try? Frame(record.bytes) else {
      skip(line, "A record that no carriage has written.")
      return nil
    }
    let isOwn = frame.sender.id & ~0xFFFF == id
    let count = UInt64(frame.items.count)
    let finding = reading.inflow.take(
      frame.sender.id, first: frame.first, count: frame.items.count, hash: hash(of: record.bytes))
    switch finding {
    case .repeated:
      if !isOwn { state.withLock { $0.condition.repeated += count } }
      return nil
    case .disputed:
      let name = frame.sender.description.prefix(80).debugDescription
      skip(line, "Somebody speaks in the name of \(name).")
    case .new(let missing):
      if missing > 0, !line.log.keepsLatest, !isOwn {
        state.withLock { state in
          state.condition.missing += missing
          state.tally.add(.gap(line.type, sender: "\(frame.sender)"), missing)
        }
      }
    }
    let delivery = Line.Delivery(sender: frame.sender.name, items: frame.items)
    if isOwn { return line.noteReturn(frame.first, frame.items.count) ? delivery.latest : nil }
    guard frame.oldest <= line.version else {
      skip(line, "Version \(frame.version) is too new.", count)
      return nil
    }
    return line.isAhead(of: record.position) ? nil : delivery
  }

  private func hash(of bytes: [UInt8]) -> Int {
    var hasher = Hasher()
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  private func deliver(_ delivery: Line.Delivery, of line: Line) async {
    let refused = await line.deliver?(delivery, line)
    if let refused { skip(line, refused.reason, refused.count) }
    state.withLock { $0.condition.received += UInt64(delivery.items.count) }
  }

  private func skip(_ line: Line, _ reason: String, _ count: UInt64 = 1) {
    state.withLock { $0.tally.add(.skipped(line.type, reason), count) }
  }

  /// Posts what one record has brought, and returns when all handlers have run.
  func deliver<Message>(
    _ delivery: Line.Delivery, to topic: Topic<Message>, _ line: Line,
    _ codec: some MessageCodec<Message>
  ) async -> (count: UInt64, reason: String)? {
    var refused: (count: UInt64, reason: String)?
    var messages: [Message?] =
      delivery.items.count == 1
      ? [] : (try? codec.decode(together: delivery.items.map(\.body))) ?? []
    if messages.count != delivery.items.count {
      messages = delivery.items.map { item in
        do { return try codec.decode(item.body) } catch {
          refused = ((refused?.count ?? 0) + 1, "It cannot be decoded: \("\(error)".prefix(200))")
          return nil
        }
      }
    }
    let last = messages.lastIndex { $0 != nil }
    for (index, message) in messages.enumerated() {
      guard let message else { continue }
      let item = delivery.items[index]
      let context = CarriageContext(
        metadata: item.metadata, sender: delivery.sender, hops: item.hops &+ 1,
        mark: Mark(nil, by: line.sender.id))
      if index == last {
        await CarriageContext.$current.withValue(context) {
          _ = await center.post(topic, message).delivered()
        }
      } else {
        CarriageContext.$current.withValue(context) { _ = center.post(topic, message) }
      }
    }
    return refused
  }
}

extension Line.Delivery {
  /// The last message of it.
  fileprivate var latest: Self { Self(sender: sender, items: items.suffix(1)) }
}
