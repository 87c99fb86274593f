import Dispatch
import Multicast
import NIOCore

extension Carriage {
  /// Carries a topic from now on, with its messages in JSON.
  ///
  /// The program stops if the type has other characters, or is carried already. All processes carry a type
  /// with one type of messages and one codec: what a process cannot decode, it skips and reports.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: What the topic is called outside of this program: letters, digits, `.`, `-` and `_`. Each
  ///     topic has a type of its own.
  ///   - version: The version of the messages that this program posts.
  ///   - oldestReader: The oldest version of a program that can read them. By default, the same version.
  ///   - direction: Which way the messages go.
  ///   - overflow: What becomes of them when too many wait. A topic that keeps its latest has `.keepLatest`.
  ///   - followsCauses: Whether a message waits, for about a tenth of a second, for those of other
  ///     processes to this topic that its sender had heard.
  public func carry<Message: Codable & Sendable>(
    _ topic: Topic<Message>, as type: String, version: Int = 1, oldestReader: Int? = nil,
    direction: Direction = .both, overflow: Overflow = .dropOldest, followsCauses: Bool = false
  ) {
    carry(
      topic, as: type, version: version, oldestReader: oldestReader, codec: JSONCodec(),
      direction: direction, overflow: overflow, followsCauses: followsCauses)
  }

  /// Carries a topic from now on, with its messages in the bytes of a codec. Otherwise the same as with
  /// JSON.
  public func carry<Message>(
    _ topic: Topic<Message>, as type: String, version: Int = 1, oldestReader: Int? = nil,
    codec: some MessageCodec<Message>, direction: Direction = .both,
    overflow: Overflow = .dropOldest, followsCauses: Bool = false
  ) {
    precondition(
      Carriage.isSubject(type),
      "A type has letters, digits, points, hyphens and underscores: \(type)")
    let keepsLatest = topic.keepsLatest || overflow == .keepLatest
    let queue = DispatchQueue(label: "Carriage.\(type)")
    let lane =
      direction == .outgoing
      ? nil
      : Lane(on: queue, limits: limits, overflow: overflow, keepsLatest: keepsLatest) {
        [weak self, center] deliveries in
        guard let self else { return }
        decode(deliveries, codec) { delivery, message in
          CarriageContext.$current.withValue(context(of: delivery)) {
            _ = center.post(topic, message)
          }
        }
      } postAndWait: { [weak self, center] delivery in
        guard let self, let message = decode(delivery, codec) else { return }
        await CarriageContext.$current.withValue(context(of: delivery)) {
          _ = await center.post(topic, message).delivered()
        }
      }
    let old = state.withLockedValue { state in
      state.exchange.carry(
        type,
        Exchange.Carried(
          keepsLatest: keepsLatest, overflow: overflow, hears: direction != .outgoing,
          isCausal: followsCauses))
      return state.topics.updateValue(
        Carried(
          topic: "\(topic)", version: UInt32(version), oldest: UInt32(oldestReader ?? version),
          queue: queue, codec: codec, observation: nil, lane: lane), forKey: type)
    }
    precondition(old == nil, "\(type) is carried already.")
    if direction != .incoming {
      // At home in the carriage: its letter is left in one step with those of all other homes, so that the
      // messages leave in the order in which they arrive here.
      let observation = center.observe(topic, owner: self, id: type, on: queue) {
        carriage, message in
        carriage.heard(message, type, codec, on: queue)
      }
      state.withLockedValue { $0.topics[type]?.observation = observation }
    }
    if direction != .outgoing {
      carrier.subscribe(to: state.withLockedValue { $0.exchange.subject(of: type) })
    }
  }

  /// Carries a topic no longer.
  public func stopCarrying(_ type: String) {
    let (carried, subject) = state.withLockedValue { state in
      state.exchange.stopCarrying(type)
      return (state.topics.removeValue(forKey: type), state.exchange.subject(of: type))
    }
    carried?.observation?.cancel()
    carried?.lane?.end()
    carrier.unsubscribe(from: subject)
  }

  /// Posts a message that is certain to be carried, as far as this process can know, with the codec that the
  /// topic is carried with.
  ///
  /// Before the carriage runs, and while the engine cannot be reached, the message waits.
  ///
  /// - Returns: When everybody in this process has had the message.
  /// - Throws: A `CarrierError`, if the topic is not carried, if the message cannot be encoded or is too
  ///   large, or if too much waits already. Then nobody gets the message.
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message
  ) async throws(CarrierError) {
    let name = "\(topic)"
    let carried = state.withLockedValue { state in
      state.topics.first { $0.value.topic == name }
    }
    guard let (type, description) = carried,
      let codec = description.codec as? any MessageCodec<Message>
    else { throw .notCarried(name) }
    let bytes = try encode(message, codec)
    let size = bytes.readableBytes + 1_024
    guard size <= carrier.payloadLimit else {
      throw .tooLarge(bytes: bytes.readableBytes, limit: carrier.payloadLimit - 1_024)
    }
    var context = CarriageContext.current
    let cause = context.mark?.cause
    let refusal: CarrierError?
    (context.mark, refusal) = state.withLockedValue { state in
      guard !state.isClosed else { return (nil, .closed) }
      guard state.topics[type] != nil else { return (nil, .notCarried(name)) }
      if let waiting = state.exchange.isFull(type, size) { return (nil, .full(waiting: waiting)) }
      return (Mark(.encoded(bytes), of: type, by: identity, because: cause), nil)
    }
    if let refusal { throw refusal }
    await CarriageContext.$current.withValue(context) {
      _ = await center.post(topic, message).delivered()
    }
  }
}

// MARK: - Between the center and the exchange

extension Carriage {
  private func encode<Message>(
    _ message: Message, _ codec: some MessageCodec<Message>
  ) throws(CarrierError) -> ByteBuffer {
    var bytes = ByteBufferAllocator().buffer(capacity: 256)
    do { try codec.encode(message, into: &bytes) } catch {
      throw .notEncodable(String("\(error)".prefix(200)))
    }
    return bytes
  }

  private func decode<Message>(
    _ delivery: Exchange.Delivery, _ codec: some MessageCodec<Message>
  ) -> Message? {
    do { return try codec.decode(delivery.envelope.body) } catch {
      state.withLockedValue {
        $0.exchange.skip(
          "\(delivery.envelope.type) of \(delivery.sender) cannot be decoded: \(error)")
      }
      return nil
    }
  }

  /// Decodes what one process has sent together, as long as all of it can be decoded. So what somebody else
  /// sends cannot spoil it.
  private func decode<Message>(
    _ deliveries: ArraySlice<Exchange.Delivery>, _ codec: some MessageCodec<Message>,
    then post: (Exchange.Delivery, Message) -> Void
  ) {
    var rest = deliveries
    while let first = rest.first {
      let run = rest.prefix { $0.sender == first.sender }
      rest = rest[run.endIndex...]
      let bodies = run.map(\.envelope.body)
      if run.count > 1, let messages = try? codec.decode(together: bodies),
        messages.count == run.count
      {
        for index in messages.indices { post(run[run.startIndex + index], messages[index]) }
      } else {
        for delivery in run { if let message = decode(delivery, codec) { post(delivery, message) } }
      }
    }
  }

  /// The context in which a message is posted that came in. It tells the carriage so, if the message comes back.
  private func context(of delivery: Exchange.Delivery) -> CarriageContext {
    let envelope = delivery.envelope
    let cause = Mark.Cause(
      sender: delivery.sender, type: envelope.type, origin: envelope.origin)
    return CarriageContext(
      metadata: envelope.metadata,
      mark: Mark(.cameIn(delivery.stamp), of: envelope.type, by: identity, because: cause))
  }

  /// Publishes what was posted in this process, and takes note of what has come in.
  private func heard<Message>(
    _ message: Message, _ type: String, _ codec: some MessageCodec<Message>,
    on queue: DispatchQueue
  ) {
    let context = CarriageContext.current
    let body: ByteBuffer
    switch context.mark?.take(type, by: identity) {
    case .cameIn(let stamp):
      if let stamp { handle { state, _ in state.exchange.heard(stamp, of: type) } }
      return
    case .encoded(let bytes): body = bytes
    case nil:
      do throws(CarrierError) { body = try encode(message, codec) } catch {
        return handle { state, _ in state.exchange.keep(type, error) }
      }
    }
    let cause = context.mark?.cause
    let limit = carrier.payloadLimit
    var sends = false
    handle { state, now in
      guard let carried = state.topics[type] else { return }
      guard !state.isClosed else { return state.exchange.keep(type, .closed) }
      var envelope = Envelope(type: type, body: body)
      (envelope.version, envelope.oldest) = (carried.version, carried.oldest)
      if let cause {
        envelope.origin = Origin(root: cause.origin.root, hops: cause.origin.hops &+ 1)
      } else {
        state.roots += 1
        envelope.origin = Origin(root: identity.start &+ state.roots, hops: 0)
      }
      envelope.metadata = context.metadata
      _ = state.exchange.post(
        envelope, recurs: cause?.type == type, payloadLimit: limit, at: now)
      sends = state.exchange.isToSend(type)
    }
    if sends { send(type, on: queue) }
  }

  /// After the letters that are there already, so that they share a payload.
  private func send(_ type: String, on queue: DispatchQueue) {
    queue.async {
      var isGrowing = false
      self.handle { isGrowing = $0.exchange.send(type, at: $1) }
      if isGrowing { self.send(type, on: queue) }
    }
  }
}
