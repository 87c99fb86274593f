import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
@testable import MulticastRedis
import NIOCore
import NIOEmbedded
import Testing

/// Sends a command to the server, as an operator would.
@discardableResult
private func ask(_ engine: Engine, _ words: String...) async throws -> String {
  try await ask(engine, words)
}

@discardableResult
private func ask(_ engine: Engine, _ words: [String]) async throws -> String {
  let program = try Program("redis-cli", ["-p", "\(engine.port)"] + words)
  try #require(try await program.status() == 0)
  return program.text("out")
}

/// Changes of a server, its streams and its connections, made by an operator or by another server.
@Suite(.timeLimit(.minutes(30)), .enabled(if: Engine.Kind.tested.contains(.redis)))
struct RedisTests {
  private let topics: (Carriage) -> Void = { $0.carry(.note, as: "note") }

  private func sites(_ engine: Engine, _ names: String...) async throws -> [Site] {
    let sites = try names.map { Site(try carrier(engine), $0, carrying: topics) }
    for site in sites { await site.start(topics: 1) }
    return sites
  }

  /// Channels, unlike keys, are the same in all databases.
  @Test func databasesOfOneServerAreApart() async throws {
    let engine = try await Engine(.redis)
    func site(_ name: String, _ database: Int) throws -> Site {
      let url = "redis://127.0.0.1:\(engine.port)/\(database)"
      return Site(RedisCarrier(try RedisConfiguration(url: url)), name, carrying: topics)
    }
    let sites = [try site("one", 1), try site("two", 2), try site("three", 2)]
    for site in sites { await site.start(topics: 1) }
    try await eventually("all listen") {
      try await ask(engine, "pubsub", "numsub", "multicast:log:note").contains("3")
    }
    // The first record of an empty log.
    sites[0].post(1...1)
    await sites[0].until { $0.state?.sent == 1 }
    sites[2].post(1...10)
    let seen = await sites[1].until { $0.notes(of: "three").last == 10 }
    #expect(seen.notes(of: "three") == Array(1...10) && seen.notes(of: "one").isEmpty)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// After a failover, the address may lead to a server that accepts no records, or has no master yet.
  @Test func aServerWithoutAMasterIsReportedAndTriedAgain() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    for (round, stale) in ["yes", "no"].enumerated() {
      try await ask(engine, "config", "set", "replica-serve-stale-data", stale)
      try await ask(engine, "replicaof", "127.0.0.1", "1")
      let word = stale == "yes" ? "readonly" : "masterdown"
      sites[0].post((1 + 10 * round)...(10 + 10 * round))
      await sites[0].until { seen in
        seen.reports.contains {
          if case .refused("note", let reason) = $0 {
            reason.lowercased().contains(word)
          } else {
            false
          }
        }
      }
      // The refusal may come while this posts.
      try await eventually("all wait") { sites[0].carriage.condition.waitingMessages == 10 }
      try await ask(engine, "replicaof", "no", "one")
      let seen = await sites[1].until { $0.notes(of: "one").last == 10 + 10 * round }
      #expect(seen.notes(of: "one") == Array(1...(10 + 10 * round)) && seen.missing == 0)
      await sites[0].until { $0.state?.isWell == true }
    }
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// Requests that a server temporarily refuses: an operator's setting, a word of the server's answer, and the setting
  /// that helps.
  @Test(arguments: [
    (
      [["acl", "setuser", "default", "-xadd"]], "run this command",
      ["acl", "setuser", "default", "+xadd"]
    ),
    // The server cannot save there.
    (
      [["config", "set", "dir", "/proc"], ["config", "set", "save", "3600 1"], ["bgsave"]],
      "misconf",
      ["config", "set", "stop-writes-on-bgsave-error", "no"]
    ),
  ])
  func temporaryRefusalsOfTheServerAreReported(
    _ set: [[String]], _ word: String, _ unset: [String]
  ) async throws {
    let engine = try await Engine(.redis, configuration: "enable-protected-configs local")
    let sites = try await sites(engine, "one", "two")
    for command in set { try await ask(engine, command) }
    if word == "misconf" {
      try await eventually("the server has not saved") {
        try await ask(engine, ["info", "persistence"]).contains("last_bgsave_status:err")
      }
    }
    sites[0].post(1...10)
    await sites[0].until { seen in
      seen.reports.contains {
        if case .refused("note", let reason) = $0 {
          reason.lowercased().contains(word)
        } else {
          false
        }
      }
    }
    try await ask(engine, unset)
    await sites[1].until { $0.notes(of: "one") == Array(1...10) }
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// The connection that listens ends, and the other one stays open. No reader misses records.
  @Test func aReaderWhoseListeningConnectionIsLostReadsOn() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    for round in 1...20 {
      try await ask(engine, "client", "kill", "type", "pubsub")
      sites[0].post((1 + 50 * (round - 1))...(50 * round))
    }
    let seen = await sites[1].until { $0.notes(of: "one").count >= 1_000 }
    #expect(seen.notes(of: "one") == Array(1...1_000) && seen.missing == 0)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  @Test func recordsThatAStreamDropsUnreadAreReported() async throws {
    let engine = try await Engine(.redis, configuration: "stream-node-max-entries 1")
    let sites = try ["gone", "here", "reader"].map { name in
      Site(try carrier(engine, redis: { $0.records = 5 }), name, carrying: topics)
    }
    await checkThatDroppedRecordsAreReported(sites)
    withExtendedLifetime(engine) {}
  }

  /// As after a crash, in which the server loses what it has not written to its disk yet.
  @Test func anEndThatTheServerHasLostIsNotAGap() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    for number in 1...5 {
      sites[0].post(number...number)
      await sites[1].until { $0.notes(of: "one").last == number }
    }
    let key = "multicast:log:note"
    #expect(try await ask(engine, "xdel", key, try await last(engine).id) == "1\n")
    try await ask(engine, "client", "kill", "type", "pubsub")
    sites[0].post(6...6)
    let seen = await sites[1].until { $0.notes(of: "one").last == 6 }
    #expect(seen.notes(of: "one") == Array(1...6))
    // Another record, after which a gap would have been reported.
    sites[0].post(7...7)
    await sites[1].until { $0.notes(of: "one").last == 7 }
    #expect(!sites[1].seen.reports.contains { if case .gap = $0 { true } else { false } })
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// The epoch, the position and the previous position of the last record.
  private func last(_ engine: Engine) async throws -> (epoch: String, id: String, before: String) {
    // Without the contents, which are not text.
    let script = """
      local last = redis.call('xrevrange', KEYS[1], '+', '-', 'COUNT', 1)[1]
      return {last[1], last[2][4], last[2][6]}
      """
    let lines = try await ask(engine, "eval", script, "1", "multicast:log:note")
      .split(separator: "\n").map(String.init)
    try #require(lines.count == 3)
    return (lines[1], lines[0], lines[2])
  }

  /// Any client that may publish can publish the last possible position.
  @Test func aForgedPositionKeepsNoReaderFromReading() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    try await ask(engine, "publish", "multicast:log:note", "no place\nof this version")
    var count = 0
    // With other contents each time, because the first report may come late.
    for (place, content, reason) in [
      ("18446744073709551615-0", "forged", "no carriage"),
      ("9999999999999-7", "", "without contents"),
    ] {
      sites[0].post(count + 1...count + 3)
      count += 3
      let all = count
      await sites[1].until { $0.notes(of: "one").last == all }
      let last = try await last(engine)
      // A reader that does not wait at this moment reads the stream instead.
      try await eventually("the reader takes the forged position") {
        try await ask(
          engine, "publish", "multicast:log:note", "\(last.epoch) \(place) \(last.id)\n\(content)")
        return sites[1].seen.reports.contains { report in
          if case .skipped(_, let text, _) = report { text.contains(reason) } else { false }
        }
      }
      for number in count + 1...count + 50 { sites[0].post(number...number) }
      count += 50
      let more = count
      let seen = await sites[1].until { $0.notes(of: "one").last == more }
      #expect(seen.notes(of: "one") == Array(1...more) && seen.missing == 0)
    }
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// A client that may publish names a position ahead of the log, and honest records are stored before it and after it.
  @Test func aForgedPositionHidesNoRecord() async throws {
    let engine = try await Engine(.redis)
    let (carrier, key) = (try carrier(engine), "multicast:log:note")
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let start = try await carrier.append([1], to: log, id: .random(in: 0 ... .max))
    let beginning = Position(epoch: start.epoch, number: 0)
    #expect(try await carrier.read(log, after: beginning, limit: 32).map(\.position) == [start])
    let ids = ([0, 1_000, 2_000, 3_000] as [UInt64]).map {
      "\(start.number + $0)-\(start.part)"
    }
    let taken = Locked<Position?>(nil)
    let reading = Task {
      let records = try await carrier.read(log, after: start, limit: 32)
      taken.withLock { $0 = records.last?.position }
    }
    // Until the reader listens.
    try await eventually("the reader takes the forged position") {
      try await ask(
        engine, "publish", key, "\(start.epoch) \(ids[2]) \(ids[0])\nforged")
      return taken.withLock { $0 != nil }
    }
    try await reading.value
    let forged = try #require(taken.withLock { $0 })
    #expect(forged.number == start.number + 2_000)
    for (before, id) in [(ids[0], ids[1]), (ids[1], ids[3])] {
      try await ask(engine, "xadd", key, id, "r", "x", "e", "\(start.epoch)", "b", before)
    }
    try await ask(engine, "publish", key, "\(start.epoch) \(ids[3]) \(ids[1])\nx")
    await #expect(throws: CarrierError.beganAnew(beginning)) {
      while try await carrier.read(log, after: forged, limit: 32).isEmpty {}
    }
    await carrier.close()
    withExtendedLifetime(engine) {}
  }

  /// A position that was published before never takes a reader back.
  @Test func aRepublishedPositionLosesNothing() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    sites[0].post(1...1)
    await sites[1].until { $0.notes(of: "one") == [1] }
    let last = try await last(engine)
    let flood = """
      for i = 1, 200 do redis.call('publish', KEYS[1], ARGV[1] .. '\\nforged') end
      """
    for round in 0..<30 {
      for number in 2...41 { sites[0].post(round * 40 + number...round * 40 + number) }
      try await ask(
        engine, "eval", flood, "1", "multicast:log:note", "\(last.epoch) \(last.id) \(last.before)")
    }
    let seen = await sites[1].until { $0.notes(of: "one").last == 1_201 }
    #expect(seen.notes(of: "one") == Array(1...1_201) && seen.missing == 0)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// The server's clock was ahead, the stream is gone, and the clock is right again, so new positions precede the old
  /// ones.
  @Test func aReaderThatIsAheadOfTheLogReadsOn() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    sites[0].post(1...1)
    await sites[1].until { $0.notes(of: "one") == [1] }
    let last = try await last(engine)
    let key = "multicast:log:note"
    try await ask(
      engine, "xadd", key, "9999999999999-0", "r", "ahead", "e", last.epoch, "b", last.id)
    sites[0].post(2...2)
    await sites[1].until { $0.notes(of: "one") == [1, 2] }
    try await ask(engine, "del", key)
    for number in 3...50 { sites[0].post(number...number) }
    let seen = await sites[1].until { $0.notes(of: "one").last == 50 }
    #expect(seen.notes(of: "one") == Array(1...50))
    #expect(seen.reports.contains(.beganAnew(type: "note")))
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// More of them than a reader asks for at once.
  @Test func entriesThatNoCarrierHasWrittenEndNothing() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    sites[0].post(1...1)
    await sites[1].until { $0.notes(of: "one") == [1] }
    let large = "99999999999999999999"
    for fields in [
      ["a", "b", "c", "d"], ["r", "x"], ["r", "x", "e", large],
      ["r", "x", "e", "1", "b", large + "-0"],
    ] {
      for _ in 0..<40 { try await ask(engine, ["xadd", "multicast:log:note", "*"] + fields) }
    }
    for number in 2...50 { sites[0].post(number...number) }
    let seen = await sites[1].until { $0.notes(of: "one").last == 50 }
    #expect(seen.notes(of: "one") == Array(1...50))
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// Another process may have a higher limit than this one.
  @Test func aRecordAboveTheLimitIsReportedAsOne() async throws {
    let engine = try await Engine(.redis)
    let (small, large) = (
      Site(try carrier(engine, redis: { $0.recordLimit = 2_000 }), "small", carrying: topics),
      Site(try carrier(engine), "large", carrying: topics)
    )
    for site in [small, large] { await site.start(topics: 1) }
    let text = String(repeating: "x", count: 2_001)
    try await ask(engine, "xadd", "multicast:log:note", "*", "r", text)
    large.post(1...1)
    await small.until { $0.notes(of: "large") == [1] }
    await small.until { seen in
      seen.reports.contains {
        if case .skipped("note", let reason, 1) = $0 {
          reason.contains("more than 2000 bytes")
        } else {
          false
        }
      }
    }
    for site in [small, large] { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// A log in which one carrier has stored records, for another carrier to read.
  private func log(
    _ count: UInt8, _ engine: Engine, _ carrier: any Carrier
  ) async throws -> (log: Log, positions: [Position]) {
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    var positions: [Position] = []
    for number in 1...count {
      positions.append(try await carrier.append([number], to: log, id: UInt64(number)))
    }
    return (log, positions)
  }

  @Test func recordsThatAnEmptyLogHasDroppedAreReported() async throws {
    let engine = try await Engine(.redis)
    let (one, two) = (try carrier(engine), try carrier(engine))
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let start = try await two.end(of: log)
    #expect(try await two.read(log, after: start, limit: 32).isEmpty)
    _ = try await self.log(5, engine, one)
    try await ask(engine, "xtrim", "multicast:log:note", "maxlen", "2")
    #expect(try await two.read(log, after: start, limit: 32).map(\.bytes) == [[4], [5]])
    #expect(try await !two.isComplete(log, since: start))
    #expect(try await two.isComplete(log, since: start), "A drop is reported once.")
    for carrier in [one, two] { await carrier.close() }
    withExtendedLifetime(engine) {}
  }

  /// An entry that no carrier has written does not know which record was before it.
  @Test func aForeignEntryHidesNoLoss() async throws {
    let engine = try await Engine(.redis)
    let carrier = try carrier(engine)
    let (log, positions) = try await log(5, engine, carrier)
    try await ask(engine, "xadd", "multicast:log:note", "*", "r", "x")
    _ = try await carrier.append([6], to: log, id: 6)
    try await ask(engine, "xtrim", "multicast:log:note", "maxlen", "2")
    let records = try await carrier.read(log, after: positions[2], limit: 32)
    #expect(records.last?.bytes == [6])
    #expect(try await !carrier.isComplete(log, since: positions[2]))
    await carrier.close()
    withExtendedLifetime(engine) {}
  }

  /// A process that was away for longer than the expiry may have missed the last records of the stream that has expired.
  @Test(arguments: [true, false])
  func aStreamThatExpiresMayHaveUnreadRecords(_ isAway: Bool) async throws {
    let engine = try await Engine(.redis)
    let expiry = Duration.seconds(10)
    let one = try carrier(engine, redis: { $0.expiry = expiry })
    let two = try carrier(engine, redis: { $0.expiry = expiry })
    let (log, positions) = try await log(2, engine, one)
    let place = positions[isAway ? 0 : 1]
    if !isAway {
      // It waits for longer than the stream lasts.
      #expect(try await two.read(log, after: place, limit: 32).isEmpty)
    }
    try await eventually("the stream has expired") {
      if !isAway { #expect(try await two.read(log, after: place, limit: 32).isEmpty) }
      return try await ask(engine, "exists", "multicast:log:note").first == "0"
    }
    _ = try await self.log(1, engine, one)
    #expect(try await two.read(log, after: place, limit: 32).map(\.bytes) == [[1]])
    #expect(try await two.isComplete(log, since: place) == !isAway)
    for carrier in [one, two] { await carrier.close() }
    withExtendedLifetime(engine) {}
  }

  /// Zero stands for a stream that never expires, so a missing one has been deleted.
  @Test func aDeletedStreamThatNeverExpiresHasBegunAnew() async throws {
    let engine = try await Engine(.redis)
    let carrier = try carrier(engine, redis: { $0.expiry = .zero })
    let (log, positions) = try await log(2, engine, carrier)
    try await ask(engine, "del", "multicast:log:note")
    do {
      _ = try await carrier.read(log, after: positions[1], limit: 32)
      Issue.record("The loss is not noticed.")
    } catch CarrierError.beganAnew(let start) { #expect(start.number == 0) }
    await carrier.close()
    withExtendedLifetime(engine) {}
  }

  @Test func entriesThatNoCarrierHasWrittenBeginNoNewLog() async throws {
    let engine = try await Engine(.redis)
    let carrier = try carrier(engine)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let end = try await carrier.append([1], to: log, id: .random(in: 0 ... .max))
    let records = try await carrier.read(
      log, after: Position(epoch: end.epoch, number: 0), limit: 32)
    #expect(records.map(\.position) == [end])
    for _ in 0..<20 { try await ask(engine, ["xadd", "multicast:log:note", "*", "r", "x"]) }
    #expect(try await carrier.end(of: log).epoch == end.epoch)
    await carrier.close()
    withExtendedLifetime(engine) {}
  }

  /// The answer arrives in 120,001 parts. To read it from its beginning each time would take hours.
  @Test func anAnswerInManyPartsIsReadOnce() throws {
    let configuration = try RedisConfiguration(url: "redis://127.0.0.1")
    let channel = EmbeddedChannel(handler: RedisConnection(nil, configuration, .seconds(8)))
    let promise = channel.eventLoop.makePromise(of: Words.self)
    try channel.writeOutbound((command: ByteBuffer(), answer: promise))
    try channel.writeInbound(ByteBuffer(string: "*60000\r\n"))
    for number in 0..<60_000 {
      try channel.writeInbound(ByteBuffer(string: "$5\r\n"))
      try channel.writeInbound(ByteBuffer(string: "\(10_000 + number)\r\n"))
    }
    let words = try promise.futureResult.wait()
    #expect(words.count == 60_000)
    #expect(words.text(0) == "10000")
    #expect(words.text(59_999) == "69999")
    // The next answer begins anew.
    let next = channel.eventLoop.makePromise(of: Words.self)
    try channel.writeOutbound((command: ByteBuffer(), answer: next))
    try channel.writeInbound(ByteBuffer(string: "+OK\r\n"))
    #expect(try next.futureResult.wait().text(0) == "OK")
  }

  /// The connection itself asks for a sign of life. A task that asks would have to wait while a program blocks Swift's pool.
  @Test func aSilentServerIsAskedBeforeTheConnectionEnds() throws {
    let configuration = try RedisConfiguration(url: "redis://127.0.0.1")
    let channel = EmbeddedChannel(handler: RedisConnection(nil, configuration, .seconds(8)))
    _ = try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    func beSilent() throws -> String? {
      channel.pipeline.fireUserInboundEventTriggered(IdleStateHandler.IdleStateEvent.read)
      return try channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }
    let ping = "*1\r\n$4\r\nPING\r\n"
    for _ in 0..<3 {
      #expect(try beSilent() == ping)
      try channel.writeInbound(ByteBuffer(string: "+PONG\r\n"))
    }
    // The answers to the pings are not those of a command.
    let promise = channel.eventLoop.makePromise(of: Words.self)
    try channel.writeOutbound((command: ByteBuffer(string: "GET"), answer: promise))
    #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "GET"))
    #expect(try beSilent() == ping)
    try channel.writeInbound(ByteBuffer(string: "+value\r\n+PONG\r\n"))
    #expect(try promise.futureResult.wait().text(0) == "value")
    #expect(try beSilent() == ping)
    #expect(channel.isActive)
    #expect(try beSilent() == nil)
    #expect(!channel.isActive)
  }

  /// A value of 6 MB, or many small ones. The answer to the others would be too large, forever.
  @Test(arguments: [(1, 6_000_000), (40_000, 10)])
  func valuesThatNoPresenceHasStoredEndNoConnection(_ count: Int, _ size: Int) async throws {
    let engine = try await Engine(.redis)
    let one = try carrier(engine)
    let script = """
      for i = 1, ARGV[1] do redis.call('hset', KEYS[1], i, '9999999999999 ' .. string.rep('x', ARGV[2])) end
      """
    try await ask(engine, "eval", script, "1", "multicast:here", "\(count)", "\(size)")
    let (values, _) = try await one.register([1], as: "one", in: "multicast", expiry: .seconds(60))
    #expect(values["one"] == [1])
    await one.close()
    withExtendedLifetime(engine) {}
  }

  /// Only this key is gone, as after an eviction. Then the log contains the value again.
  @Test func aLatestValueWhoseKeyIsGoneIsPostedAgain() async throws {
    let engine = try await Engine(.redis)
    let sites = try ["one", "two"].map { name in
      Site(try carrier(engine), name) { $0.carry(.last, as: "last") }
    }
    for site in sites { await site.start(topics: 1) }
    sites[0].post(1...3, to: .last)
    await sites[1].until { $0.notes(of: "one", in: "last").last == 3 }
    await sites[0].until { $0.state?.waitingMessages == 0 }
    try await ask(engine, "del", "multicast:latest:last")
    for site in sites { await site.until { $0.reports.contains(.beganAnew(type: "last")) } }
    try await eventually("the value is in the log") {
      try await ask(engine, "exists", "multicast:latest:last") == "1\n"
    }
    let late = Site(try carrier(engine), "late") { $0.carry(.last, as: "last") }
    await late.start(topics: 1)
    // Both processes may post it again.
    await late.until { $0.notes(of: "one", in: "last").last == 3 }
    for site in sites + [late] { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// A published message is as large as its publisher likes.
  @Test func anAnswerThatIsTooLargeEndsOnlyTheConnection() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    // Both listen after they have received something.
    sites[0].post(0...0)
    await sites[1].until { $0.notes(of: "one") == [0] }
    // A carrier takes answers of 4 MiB more than the largest record, which has 1 MiB.
    try await ask(
      engine, "eval", "redis.call('publish', KEYS[1], string.rep('x', 7000000))", "1",
      "multicast:log:note")
    await sites[1].until { seen in
      seen.reports.contains { $0.reason?.contains("as redis does") ?? false }
    }
    sites[0].post(1...10)
    let seen = await sites[1].until { $0.notes(of: "one").count >= 11 }
    #expect(seen.notes(of: "one") == Array(0...10) && seen.missing == 0)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// A server that does not know AUTH repeats the command in its answer.
  @Test(arguments: ["me:top%40secret", "top%40secret"])
  func noReportContainsAPassword(_ user: String) async throws {
    let engine = try await Engine(.redis, configuration: "rename-command AUTH \"\"")
    let own = try carrier(engine, user: user)
    let one = Site(own, "one", carrying: topics)
    one.run()
    let seen = await one.until { $0.reports.contains { $0.reason != nil } }
    let reasons = seen.reports.compactMap(\.reason)
    #expect(reasons.contains { $0.contains("unknown command") && $0.contains("…") })
    #expect(!reasons.contains { $0.contains("top@secret") || $0.contains("top%40secret") })
    var dumped = ""
    dump(own, to: &dumped)
    #expect(!dumped.contains("top@secret") && !dumped.contains("top%40secret"))
    await one.stop()
    withExtendedLifetime(engine) {}
  }

  /// As behind a proxy that sends each command to another server.
  @Test func aServerThatForgetsItsScriptsIsReported() async throws {
    let (server, port) = try await falseServer { Forgetful() }
    let carrier = RedisCarrier(try RedisConfiguration(url: "redis://127.0.0.1:\(port)"))
    await #expect(throws: CarrierError.refused("NOSCRIPT No matching script.")) {
      try await carrier.end(of: Log(prefix: "multicast", type: "note", keepsLatest: false))
    }
    await carrier.close()
    try await server.close()
  }

  /// If the system went on sending what is left, the server might store a record long after it was sent again.
  @Test func aConnectionThatTimesOutIsReset() async throws {
    let ends = Locked<[Bool]>([])
    let (server, port) = try await falseServer { Mute(ends) }
    let own = try RedisConfiguration(url: "redis://127.0.0.1:\(port)")
    let session = RedisSession(own, isAnother: false, patience: .milliseconds(300))
    await #expect(throws: CarrierError.self) { try await session.send(["PING"]) }
    try await eventually("both connections have ended") { ends.withLock { $0.count } == 2 }
    #expect(ends.withLock { $0 } == [true, true])
    try await server.close()
  }

  /// The number of commands that were called outside scripts.
  private func commands(_ engine: Engine) async throws -> Int {
    try await ask(engine, "info", "commandstats").split(whereSeparator: \.isNewline).reduce(0) {
      sum, line in
      guard
        let calls = line.firstMatch(
          of: /cmdstat_(eval|evalsha|script|subscribe|unsubscribe):calls=([0-9]+)/)
      else { return sum }
      return sum + (Int(calls.2) ?? 0)
    }
  }

  @Test func aMessageCostsOneCommandAndABurstFew() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two", "three")
    var before = try await commands(engine)
    let start = ContinuousClock.now
    for number in 1...200 {
      sites[0].post(number...number)
      for site in sites { await site.until { $0.notes(of: "one").last == number } }
    }
    let alone = try await commands(engine) - before
    // A reader that was slow sometimes reads the stream. Each process looks at the end of the stream once a second.
    let looks = 3 * (Int((ContinuousClock.now - start) / .seconds(1)) + 1)
    #expect((200...300 + looks).contains(alone), "\(alone)")
    before += alone
    sites[0].post(201...10_200)
    for site in sites { await site.until { $0.notes(of: "one").last == 10_200 } }
    let burst = try await commands(engine) - before
    // One command for each record, which messages share, and one read of it by each process.
    #expect(burst < 2_000, "\(burst)")
    before += burst
    // Without messages, no carrier asks.
    await sites[0].until { $0.state?.sent == 10_200 }
    try await ask(engine, "client", "list")
    #expect(try await commands(engine) - before <= 10)
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// The records that were published meanwhile are no longer in any stream.
  @Test func aServerThatIsEmptiedWhileAHandlerIsSlowIsNotAskedWithoutAnEnd() async throws {
    let engine = try await Engine(.redis)
    let sites = try await sites(engine, "one", "two")
    let gate = AsyncStream<Never>.makeStream()
    sites[1].center.observe(.note, owner: sites[1]) { _, _ in for await _ in gate.stream {} }
    for number in 1...5 {
      sites[0].post(number...number)
      await sites[0].until { $0.state?.sent == UInt64(number) }
    }
    try await ask(engine, "flushall")
    gate.continuation.finish()
    await sites[1].until { $0.reports.contains(.beganAnew(type: "note")) }
    let before = try await commands(engine)
    for _ in 1...50 { try await ask(engine, "ping") }
    #expect(try await commands(engine) - before <= 20)
    sites[0].post(6...6)
    await sites[1].until { $0.notes(of: "one").last == 6 }
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  @Test func topicsThatEndLeaveNothing() async throws {
    let engine = try await Engine(.redis)
    let own = try carrier(engine, redis: { $0.expiry = .seconds(1) })
    let site = Site(own, "one", carrying: topics)
    await site.start(topics: 1)
    for round in 1...1_000 {
      site.carriage.carry(Topic<Int>("short \(round)"), as: "short \(round)")
      try await site.carriage.post(Topic<Int>("short \(round)"), round)
      while site.carriage.condition.sent < round { await Task.yield() }
      site.carriage.stopCarrying("short \(round)")
    }
    try await eventually("no reader listens to them") {
      try await ask(engine, "pubsub", "channels").split(whereSeparator: \.isNewline).count == 1
    }
    try await eventually("their streams have expired") {
      try await ask(engine, "keys", "*").allSatisfy(\.isWhitespace)
    }
    await site.stop()
    withExtendedLifetime(engine) {}
  }
}

/// A server that never answers. Notes of each connection that has ended whether it was reset.
private final class Mute: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let ends: Locked<[Bool]>
  private var isReset = false
  init(_ ends: Locked<[Bool]>) { self.ends = ends }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    isReset = (error as? IOError)?.errnoCode == ECONNRESET
  }

  func channelInactive(context: ChannelHandlerContext) {
    ends.withLock { $0.append(isReset) }
  }
}

/// A server that takes each script, and knows none.
private final class Forgetful: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let isCall = String(buffer: unwrapInboundIn(data)).contains("EVALSHA")
    let answer = isCall ? "-NOSCRIPT No matching script." : "+0"
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer + "\r\n")), promise: nil)
  }
}
