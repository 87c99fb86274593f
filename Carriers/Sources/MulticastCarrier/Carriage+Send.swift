import Multicast

extension Carriage {
  private static let hopLimit: UInt16 = 1_000

  func encode<Message>(
    _ message: Message, _ codec: some MessageCodec<Message>, _ context: CarriageContext
  ) throws(CarrierError) -> [UInt8] {
    guard context.hops <= Carriage.hopLimit else { throw .loop }
    var item: [UInt8] = []
    do {
      try Frame.write(hops: context.hops, context.metadata, into: &item) { bytes in
        try codec.encode(message, into: &bytes)
      }
    } catch { throw .notEncodable(String("\(error)".prefix(200))) }
    let limit = carrier.recordLimit - Frame.headerLimit
    guard item.count <= limit else { throw .tooLarge(bytes: item.count, limit: limit) }
    return item
  }

  /// At home, in the order of the center.
  func heard<Message>(_ message: Message, of line: Line, _ codec: some MessageCodec<Message>) {
    let context = CarriageContext.current
    guard let mark = context.mark, mark.take(by: line.sender.id) else {
      return publish(message, of: line, codec, context)
    }
    if let item = mark.item { add(item, to: line) } else { line.noteCameIn() }
  }

  /// At home.
  func publish<Message>(
    _ message: Message, of line: Line, _ codec: some MessageCodec<Message>,
    _ context: CarriageContext
  ) {
    do throws(CarrierError) {
      // What is refused anyway is not encoded, so that the carriage keeps up with who posts without an end.
      guard state.withLock({ $0.outbox.hasRoom(for: 0) }) else { throw .full }
      let item = try encode(message, codec, context)
      guard state.withLock({ $0.outbox.reserve(item.count) }) else { throw .full }
      add(item, to: line)
    } catch {
      state.withLock { $0.keep(line.type, error) }
    }
  }

  private func add(_ item: [UInt8], to line: Line) {
    line.noteOwn()
    let starts = state.withLock { state in
      guard state.lines[line.type] === line else {
        state.outbox.release(item.count)
        state.keep(line.type, state.isClosed ? .closed : .notCarried)
        return false
      }
      return state.outbox.add(item, to: line.sender.id)
    }
    // After the letters that are here already, so that they share a record.
    if starts { home.async { Task { await self.send(line) } } }
  }

  /// Sends what waits to a topic, one record after the other.
  private func send(_ line: Line) async {
    var pause = Pause()
    while let packed = state.withLock({ $0.outbox.next(line.sender.id) }) {
      let record = Frame.write(line.sender, version: line.version, oldest: line.oldest, packed)
      do {
        let place = try await carrier.append(
          record, to: line.log, id: "\(line.sender.id)-\(packed.first)")
        line.noteStored(packed, at: place)
        finish(line, sent: packed.count)
        succeeded(line, .outgoing)
        pause = Pause()
      } catch CarrierError.closed {
        return
      } catch CarrierError.tooLarge(_, let limit) {
        if packed.count > 1 {
          state.withLock { $0.outbox.split(line.sender.id) }
          continue
        }
        _ = line.noteReturn(packed.first, packed.count)
        finish(line, sent: 0)
        state.withLock {
          $0.keep(line.type, .tooLarge(bytes: packed.items.count, limit: limit))
        }
      } catch {
        failed(error, line, .outgoing)
        await pause.wait()
      }
    }
  }

  private func finish(_ line: Line, sent: Int) {
    let ready = state.withLock { state in
      state.condition.sent += UInt64(sent)
      state.outbox.finish(line.sender.id)
      return state.takeReady()
    }
    for waiter in ready { waiter.done.resume(returning: true) }
  }

  // MARK: What is told of the engine

  func succeeded(_ line: Line, _ direction: Direction) {
    let isNew = state.withLock { state in
      state.refusals[Refusal(type: line.type, direction: direction)] = nil
      guard state.condition.connection != .connected, !state.isClosed else { return false }
      state.condition.connection = .connected
      return true
    }
    if isNew { tell(.connected) }
  }

  func failed(_ error: any Error, _ line: Line, _ direction: Direction) {
    if case CarrierError.refused(let reason) = error {
      let reason = String(reason.prefix(300))
      let refusal = Refusal(type: line.type, direction: direction)
      let isNew = state.withLock { state in
        guard state.lines[line.type] === line else { return false }
        return state.refusals.updateValue(reason, forKey: refusal) != reason
      }
      if isNew { tell(.refused(type: line.type, reason: reason)) }
      return
    }
    let text = if case CarrierError.disconnected(let text) = error { text } else { "\(error)" }
    let reason = String(text.prefix(300))
    let (isNew, ready) = state.withLock { state in
      guard !state.isClosed, state.condition.connection != .disconnected(reason) else {
        return (false, [Waiter]())
      }
      state.condition.connection = .disconnected(reason)
      return (true, state.takeReady())
    }
    for waiter in ready { waiter.done.resume(returning: true) }
    if isNew { tell(.disconnected(reason)) }
  }

  /// Longer and longer pauses, up to a second.
  struct Pause {
    private var milliseconds = 50
    mutating func wait() async {
      let time = milliseconds / 2 + .random(in: 0...milliseconds / 2)
      try? await Task.sleep(for: .milliseconds(time))
      milliseconds = min(1_000, 2 * milliseconds)
    }
  }
}
