import Multicast
import NIOCore

extension Carriage {
  /// Carries a topic from now on, with its messages in JSON.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - type: What the topic is called outside of this program: letters, digits, `.`, `-` and `_`. Each
  ///     topic has a type of its own.
  ///   - version: The version of the messages that this program posts.
  ///   - oldestReader: The oldest version of a program that can read them. By default, the same version.
  ///   - direction: Which way the messages go.
  ///   - overflow: What becomes of them when too many wait. A topic that keeps its latest has `.keepLatest`.
  ///   - followsCauses: Whether a message waits, for a tenth of a second at most, for those of other
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
      !type.isEmpty
        && type.utf8.allSatisfy { byte in
          let scalar = Unicode.Scalar(byte)
          return scalar.properties.isAlphabetic && scalar.isASCII
            || "0123456789.-_".utf8.contains(byte)
        },
      "A type has letters, digits, points, hyphens and underscores: \(type)")
    let keepsLatest = topic.keepsLatest || overflow == .keepLatest
    let lane: Lane? =
      direction == .outgoing
      ? nil
      : Lane(limits: limits, overflow: overflow, keepsLatest: keepsLatest) {
        [weak self, center] delivery, waits in
        guard let message = self?.decode(delivery, codec) else { return }
        guard let context = self?.arriving(delivery, comesBack: direction == .both) else { return }
        let count = await CarriageContext.$current.withValue(context) {
          waits ? await center.postAndWait(topic, message) : center.post(topic, message)
        }
        // A refused post comes back to nobody.
        if count == 0, let mark = context.mark { self?.forget(mark) }
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
          observation: nil, lane: lane), forKey: type)
    }
    precondition(old == nil, "\(type) is carried already.")
    if direction != .incoming {
      // At home in the carriage: its letter is left in one step with those of all other homes, so that the
      // messages leave in the order in which they arrive here.
      let observation = center.observe(topic, owner: self, id: type, on: home) {
        carriage, message in
        carriage.heard(message, type, codec)
      }
      state.withLockedValue { state in
        guard let carried = state.topics[type] else { return }
        state.topics[type] = Carried(
          topic: carried.topic, version: carried.version, oldest: carried.oldest,
          observation: observation, lane: carried.lane)
      }
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

  /// Posts a message that is certain to be carried, as far as this process can know.
  ///
  /// - Returns: When everybody in this process has had the message.
  /// - Throws: A `CarrierError`, if the message cannot be encoded, is too large, or if too much waits
  ///   already. Then
  ///   nobody gets the message.
  public func post<Message: Codable & Sendable>(
    _ topic: Topic<Message>, _ message: Message
  ) async throws(CarrierError) {
    try await post(topic, message, codec: JSONCodec())
  }

  /// Posts a message that is certain to be carried, with the codec of its topic. Otherwise the same as with
  /// JSON.
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message, codec: some MessageCodec<Message>
  ) async throws(CarrierError) {
    let bytes = try encode(message, codec)
    let size = bytes.readableBytes + 1_024
    guard size <= carrier.payloadLimit else {
      throw .tooLarge(bytes: bytes.readableBytes, limit: carrier.payloadLimit - 1_024)
    }
    let name = "\(topic)"
    let mark: UInt64?
    let refusal: CarrierError?
    (mark, refusal) = state.withLockedValue { state in
      guard !state.isClosed else { return (nil, .closed) }
      guard let type = state.topics.first(where: { $0.value.topic == name })?.key else {
        return (nil, .notCarried(name))
      }
      if let waiting = state.exchange.isFull(type, size) { return (nil, .full(waiting: waiting)) }
      defer { state.nextMark += 1 }
      state.encoded[state.nextMark] = bytes
      return (state.nextMark, nil)
    }
    if let refusal { throw refusal }
    var context = CarriageContext.current
    context.mark = mark.map { CarriageContext.Mark(carriage: ObjectIdentifier(self), number: $0) }
    let count = await CarriageContext.$current.withValue(context) {
      await center.postAndWait(topic, message)
    }
    if count == 0, let mark = context.mark { forget(mark) }
  }
}

// MARK: - Between the center and the exchange

/// Where a message comes from that the carriage hears.
private enum Posted {
  case cameIn(Stamp?)
  case encoded(ByteBuffer)
  case new
}

extension Carriage {
  private func encode<Message>(
    _ message: Message, _ codec: some MessageCodec<Message>
  ) throws(CarrierError) -> ByteBuffer {
    var bytes = ByteBuffer()
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

  /// The context in which a message that came in is posted. It tells this carriage that the message came
  /// in.
  private func arriving(_ delivery: Exchange.Delivery, comesBack: Bool) -> CarriageContext {
    var context = CarriageContext()
    context.metadata = delivery.envelope.metadata
    context.sender = delivery.sender
    context.type = delivery.envelope.type
    context.origin = delivery.envelope.origin
    guard comesBack else { return context }
    let number = state.withLockedValue { state in
      defer { state.nextMark += 1 }
      state.arriving[state.nextMark] = .some(delivery.stamp)
      return state.nextMark
    }
    context.mark = CarriageContext.Mark(carriage: ObjectIdentifier(self), number: number)
    return context
  }

  private func forget(_ mark: CarriageContext.Mark) {
    state.withLockedValue {
      $0.arriving[mark.number] = nil
      $0.encoded[mark.number] = nil
    }
  }

  /// Publishes what was posted in this process, and takes note of what has come in.
  ///
  /// What the handlers of a message post has its mark, too. It comes after the message, when its mark is
  /// used up.
  private func heard<Message>(
    _ message: Message, _ type: String, _ codec: some MessageCodec<Message>
  ) {
    let context = CarriageContext.current
    let way = state.withLockedValue { state -> Posted in
      guard let mark = context.mark, mark.carriage == ObjectIdentifier(self) else { return .new }
      if let stamp = state.arriving.removeValue(forKey: mark.number) { return .cameIn(stamp) }
      return state.encoded.removeValue(forKey: mark.number).map { .encoded($0) } ?? .new
    }
    if case .cameIn(let stamp) = way {
      if let stamp { handle { state, _ in state.exchange.heard(stamp, of: type) } }
      return
    }
    let body: ByteBuffer
    do throws(CarrierError) {
      if case .encoded(let bytes) = way { body = bytes } else { body = try encode(message, codec) }
    } catch { return handle { state, _ in state.exchange.keep(type, error) } }
    let limit = carrier.payloadLimit
    handle { state, now in
      guard let carried = state.topics[type] else { return }
      guard !state.isClosed else { return state.exchange.keep(type, .closed) }
      state.nextMark += 1
      let origin =
        context.sender == nil
        ? Origin(root: identity.start &+ state.nextMark, hops: 0)
        : Origin(root: context.origin.root, hops: context.origin.hops &+ 1)
      var envelope = Envelope(type: type, body: body)
      (envelope.version, envelope.oldest) = (carried.version, carried.oldest)
      envelope.origin = origin
      envelope.metadata = context.metadata
      _ = state.exchange.post(
        envelope, recurs: context.type == type, payloadLimit: limit, at: now)
    }
  }
}
