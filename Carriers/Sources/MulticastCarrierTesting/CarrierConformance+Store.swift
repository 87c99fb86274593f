import Foundation
import MulticastCarrier
import NIOCore

extension CarrierConformance {
  /// A carrier that stores, as somebody who reads page by page sees it.
  private struct Reader {
    let post: Post
    let carrier: any ReplayingCarrier

    init?(_ carrier: any Carrier) {
      guard let storing = carrier as? any ReplayingCarrier else { return nil }
      (post, self.carrier) = (Post(storing), storing)
    }

    func store(_ payload: ByteBuffer, _ subject: String) async throws {
      try await eventually("the carrier takes a payload") {
        do throws(CarrierError) { try carrier.store(payload, to: subject) } catch {
          // After an end of the engine, the connection may not be there yet.
          if case .tooLarge = error { throw error }
          return false
        }
        return true
      }
    }

    /// A page. A question that is not answered in time is asked again.
    func page(_ subject: String, _ position: StoredPosition?) async throws -> StoredPayloads {
      var page: StoredPayloads?
      try await eventually("the engine answers") {
        page = try? await carrier.stored(subject, after: position)
        return page != nil
      }
      return page ?? StoredPayloads([], end: .init(epoch: "", offset: ""), hasMore: false)
    }

    /// All that is stored after a position.
    func all(_ subject: String, _ position: StoredPosition) async throws -> StoredPayloads {
      var all = StoredPayloads([], end: position, hasMore: true)
      while all.hasMore {
        let page = try await page(subject, all.end)
        all.payloads += page.payloads
        (all.end, all.hasMore) = (page.end, page.hasMore)
      }
      return all
    }

    /// Reads until the engine has stored so much: a payload is taken before it is stored.
    func all(
      _ subject: String, _ position: StoredPosition, count: Int
    ) async throws -> StoredPayloads {
      var result = try await all(subject, position)
      try await eventually("\(count) payloads are stored") {
        if result.payloads.count < count { result = try await all(subject, position) }
        return result.payloads.count >= count
      }
      return result
    }
  }

  /// Checks what the engine stores.
  func checkStore() async throws -> [String] {
    guard let one = Reader(try make()), let two = Reader(try make()) else { return [] }
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: String) { if !holds { broken.append(sentence) } }
    let subject = "conformance.\(UInt32.random(in: 0 ... .max))"
    for reader in [one, two] {
      reader.post.carrier.subscribe(to: subject)
      try await reader.post.open()
    }
    try await one.post.reaches(two.post, subject)

    // Where the store ends, and again.
    let start = try await one.page(subject, nil)
    expect(start.payloads.isEmpty && !start.hasMore, "The end of the store has payloads.")
    expect(
      try await two.page(subject, nil).end.epoch == start.end.epoch,
      "The epoch of a store changes by itself.")
    expect(
      try await one.all(subject, start.end).payloads.isEmpty, "What was not stored can be read.")

    // All of it, in order, each once: any bytes, none, and as many as it takes.
    var payloads = [
      ByteBuffer(bytes: (0...255).map { UInt8($0) }), ByteBuffer(),
      ByteBuffer(repeating: 0xA7, count: one.carrier.payloadLimit),
    ]
    payloads += (0..<1_000).map { ByteBuffer(integer: UInt32($0)) }
    for payload in payloads { try await one.store(payload, subject) }
    let read = try await two.all(subject, start.end, count: payloads.count)
    expect(read.payloads == payloads, "What was stored is read changed, twice or out of order.")
    try await two.post.receives(payloads.count)
    expect(two.post.payloads == payloads, "What is stored is not carried.")

    // A position leads on, in another process as well.
    let page = try await one.page(subject, start.end)
    expect(
      page.hasMore && page.payloads.count < payloads.count,
      "A page has the whole store, or does not tell that there is more.")
    expect(
      try await two.all(subject, page.end).payloads == Array(payloads[page.payloads.count...]),
      "A position does not lead on where it was read.")
    let last = try await one.page(subject, nil)
    expect(try await one.all(subject, last.end).payloads.isEmpty, "The end is not the end.")
    try await two.store(ByteBuffer(string: "other"), subject + ".other")
    try await two.post.send(ByteBuffer(string: "not stored"), subject)
    try await two.store(ByteBuffer(string: "behind"), subject)
    expect(
      try await one.all(subject, last.end, count: 1).payloads == [ByteBuffer(string: "behind")],
      "Behind the end, something else is read than what was stored to the subject.")
    for reader in [one, two] { await reader.post.carrier.close() }
    return broken
  }

  /// Checks that a position in a store that is gone is not believed.
  ///
  /// - Parameter empty: Empties the engine's store, or makes it anew.
  public func checkStore(emptied empty: () async throws -> Void) async throws -> [String] {
    guard let one = Reader(try make()) else { return ["The carrier is no ReplayingCarrier."] }
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: String) { if !holds { broken.append(sentence) } }
    let subject = "conformance.\(UInt32.random(in: 0 ... .max))"
    try await one.post.open()
    let start = try await one.page(subject, nil)
    for number in 0..<200 { try await one.store(ByteBuffer(integer: number), subject) }
    let old = try await one.all(subject, start.end, count: 200).end
    try await empty()
    // Less than what was there: the old position would be behind all of it.
    let payloads = (0..<100).map { ByteBuffer(string: "new \($0)") }
    for payload in payloads {
      try await eventually("the store takes what is new") {
        try await one.store(payload, subject)
        return try await one.all(subject, old).payloads.contains(payload)
      }
    }
    let new = try await one.all(subject, old)
    expect(new.end.epoch != old.epoch, "A store that was begun anew has the old epoch.")
    expect(
      new.payloads.first == payloads.first && new.payloads.last == payloads.last,
      "A position is believed in another store.")
    expect(
      try await one.all(subject, new.end).payloads.isEmpty, "The new end is not the end.")
    await one.post.carrier.close()
    return broken
  }
}
