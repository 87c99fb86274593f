import CNATS
import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import NIOCore
import Testing

@testable import MulticastNATS

/// Changes of streams and consumers of JetStream, made by an operator or by the server.
@Suite(.timeLimit(.minutes(30)), .enabled(if: Engine.Kind.tested.contains(.nats)))
struct NATSTests {
  private let topics: (Carriage) -> Void = { $0.carry(.note, as: "note") }

  /// Sends a request to JetStream, as an operator would.
  @discardableResult
  private func ask(_ engine: Engine, _ subject: String, _ body: String = "") throws -> String {
    var connection: OpaquePointer?
    var message: OpaquePointer?
    natsConnection_ConnectTo(&connection, engine.url)
    let status = natsConnection_RequestString(
      &message, connection, "$JS.API." + subject, body, 5_000)
    defer {
      natsMsg_Destroy(message)
      natsConnection_Destroy(connection)
    }
    try #require(status == NATS_OK)
    let text = natsMsg_GetData(message).map { String(cString: $0) } ?? ""
    try #require(!text.contains("\"error\""), "\(text)")
    return text
  }

  /// An engine with a stream that existed before the carrier.
  private func engine(_ more: String, subjects: String = "multicast.log.>") async throws -> Engine {
    let engine = try await Engine(.nats)
    try ask(
      engine, "STREAM.CREATE.multicast",
      #"{"name":"multicast","subjects":["\#(subjects)"],\#(more)}"#)
    return engine
  }

  private func consumers(_ engine: Engine) throws -> [String] {
    struct Names: Decodable { let consumers: [String]? }
    let text = try ask(engine, "CONSUMER.NAMES.multicast")
    return try JSONDecoder().decode(Names.self, from: Data(text.utf8)).consumers ?? []
  }

  @Test func deletedConsumersAreCreatedAgainWithoutAReport() async throws {
    let engine = try await Engine(.nats)
    let one = Site(try carrier(engine), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    for round in 1...5 {
      one.post(round * 10 - 9...round * 10)
      await two.until { $0.notes(of: "one").count >= round * 10 }
      for name in try consumers(engine) { try ask(engine, "CONSUMER.DELETE.multicast." + name) }
    }
    one.post(51...60)
    let seen = await two.until { $0.notes(of: "one").count >= 60 }
    #expect(seen.notes(of: "one") == Array(1...60) && seen.missing == 0)
    #expect(seen.reports.compactMap(\.reason) == [])
    // A consumer that is being created when its carriage ends stays for a minute.
    while try consumers(engine).count < 2 { await Task.yield() }
    for site in [one, two] { await site.stop() }
    #expect(try consumers(engine).isEmpty)
  }

  @Test func aConsumerThatCannotBeCreatedIsReportedOnceAndTriedAgain() async throws {
    let engine = try await engine(#""storage":"file","max_consumers":1"#)
    let one = Site(try carrier(engine), "one", carrying: topics)
    await one.start(topics: 1)
    one.post(1...5)
    let place = { one.carriage.position(of: "note") }
    while try consumers(engine).isEmpty || place() == nil { await Task.yield() }
    let two = Site(try carrier(engine), "two") { $0.carry(.note, as: "note", from: .beginning) }
    two.run()
    await two.until { seen in seen.reports.contains { $0.reason != nil } }
    await one.stop()
    let seen = await two.until { $0.notes(of: "one").count >= 5 }
    #expect(seen.notes(of: "one") == Array(1...5))
    #expect(seen.reports.compactMap(\.reason) == ["maximum consumers limit reached"])
    await two.stop()
  }

  @Test func aDeletedStreamIsCreatedAgainAndReported() async throws {
    // In memory, because a server of version 2.9 that deletes a stream's files also deletes those of the next stream.
    let engine = try await engine(#""storage":"memory""#)
    let one = Site(try carrier(engine), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    for number in 1...100 {
      one.post(number...number)
      await two.until { $0.notes(of: "one").count >= number }
    }
    try ask(engine, "STREAM.DELETE.multicast")
    one.post(101...200)
    let seen = await two.until { $0.notes(of: "one").count >= 200 }
    #expect(seen.notes(of: "one") == Array(1...200) && seen.missing == 0)
    #expect(seen.reports.filter { $0 == .beganAnew(type: "note") }.count == 1)
    for site in [one, two] { await site.stop() }
  }

  @Test func aStreamOfOtherSubjectsIsReported() async throws {
    let engine = try await engine(#""storage":"file","max_msgs":10"#, subjects: "other.>")
    let one = Site(try carrier(engine), "one", carrying: topics)
    one.run()
    one.post(1...3)
    await one.until { seen in
      seen.reports.contains { $0.reason?.contains("no stream has the subject") ?? false }
    }
    try ask(
      engine, "STREAM.UPDATE.multicast",
      #"{"name":"multicast","subjects":["multicast.log.>"],"storage":"file"}"#)
    let two = Site(try carrier(engine), "two", from: .beginning)
    await two.start()
    await two.until { $0.notes(of: "one") == [1, 2, 3] }
    for site in [one, two] { await site.stop() }
  }

  @Test func aMessageAboveTheStreamsLimitDelaysNoOther() async throws {
    let engine = try await engine(#""storage":"file","max_msg_size":2000"#)
    let one = Site(try carrier(engine), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...100)
    one.center.post(.note, Note("one", 101, String(repeating: "x", count: 5_000)))
    one.post(102...200)
    let seen = await two.until { $0.notes(of: "one").last == 200 }
    #expect(seen.notes(of: "one") == (1...200).filter { $0 != 101 })
    let told = await one.until { seen in
      seen.reports.contains { if case .kept = $0 { true } else { false } }
    }
    let kept = told.reports.compactMap { report -> CarrierError? in
      if case .kept("note", let reason, 1) = report { reason } else { nil }
    }
    guard case .tooLarge(let bytes, 2_000)? = kept.first else {
      Issue.record("\(kept)")
      return
    }
    #expect(kept.count == 1 && bytes > 5_000)
    for site in [one, two] { await site.stop() }
  }

  @Test func aFullStreamIsReportedAndGoesOnWhenThereIsRoom() async throws {
    let engine = try await engine(#""storage":"file","max_msgs":3,"discard":"new""#)
    let one = Site(try carrier(engine), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    for number in 1...10 {
      one.post(number...number)
      if number <= 3 { await two.until { $0.notes(of: "one").count >= number } }
    }
    await one.until { seen in
      seen.reports.contains { $0.reason?.contains("maximum messages exceeded") ?? false }
    }
    try ask(engine, "STREAM.PURGE.multicast")
    await two.until { $0.notes(of: "one") == Array(1...10) }
    await one.until { $0.state.map { $0.waitingMessages == 0 && $0.isWell } ?? false }
    for site in [one, two] { await site.stop() }
  }

  /// A server that sends again may have dropped earlier records, unless there cannot have been any.
  @Test(arguments: [(6, nil), (8, 5)])
  func onlyRecordsThatMayHaveBeenDroppedAreDoubted(_ place: UInt64, _ doubt: UInt64?) {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    var consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 5), read: 5, first: 1, end: nil)
    #expect(consumer.doubt == nil)
    _ = consumer.take([1], place, 1, 0)
    #expect(consumer.doubt == doubt)
  }

  /// From 2.10 on, the server says that it has sent as many records as it was asked for, perhaps after the next question.
  @Test func aConsumerGoesOnAfterAFullBatch() {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    var consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 0), read: nil, first: 1, end: nil)
    _ = consumer.take([1], 1, 1, 0)
    guard case .wait = consumer.take("409 Batch Completed") else {
      Issue.record("The consumer ends.")
      return
    }
  }

  /// The stream has dropped many records since the last record of a quiet topic. All of them were of other topics, up
  /// to where the topic was read.
  @Test(arguments: [(5, 900, 5), (899, 900, nil), (950, 900, nil)] as [(UInt64, UInt64, UInt64?)])
  func aQuietTopicIsDoubtedFromWhereItWasRead(_ known: UInt64, _ first: UInt64, _ doubt: UInt64?) {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    var consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 5), read: known, first: first, end: nil)
    #expect(consumer.doubt == doubt)
    // The drop is reported once.
    consumer.doubt = nil
    _ = consumer.take([1], max(known + 1, first), 1, 0)
    #expect(consumer.doubt == nil)
  }

  /// The topic had no record when the reading began, so all later ones are for this process. The stream has dropped records up to 888
  /// since.
  @Test(arguments: [(nil, nil), (500, 500), (900, nil)] as [(UInt64?, UInt64?)])
  func anEmptyTopicIsDoubtedFromItsBeginning(_ read: UInt64?, _ doubt: UInt64?) {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    let consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 0), read: read, first: 889, end: nil)
    #expect(consumer.doubt == doubt)
    // Without a record to read, the topic was read up to the end of the stream, in which other topics have records.
    var empty = Consumer(
      log, "name", after: Position(epoch: 1, number: 0), read: nil, first: 400, end: 900)
    #expect(empty.known == 900 && empty.doubt == nil)
    _ = empty.take([1], 905, 1, 1)
    #expect(empty.doubt == 900)
  }

  @Test func recordsThatAnEmptyTopicHasDroppedAreReported() async throws {
    let engine = try await engine(#""storage":"memory""#)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let (one, two) = (try carrier(engine), try carrier(engine))
    let start = try await two.end(of: log)
    #expect(start.number == 0)
    #expect(try await two.read(log, after: start, limit: 32).isEmpty)
    for number in 1...5 as ClosedRange<UInt8> {
      _ = try await one.append([number], to: log, id: UInt64(number))
    }
    try ask(engine, "STREAM.PURGE.multicast", #"{"keep":2}"#)
    let records = try await two.read(log, after: start, limit: 32)
    #expect(records.map(\.bytes) == [[4], [5]])
    #expect(try await !two.isComplete(log, since: start))
    #expect(try await two.isComplete(log, since: start), "A drop is reported once.")
    for carrier in [one, two] { await carrier.close() }
  }

  /// A consumer that the server has just created for a read that is cancelled.
  @Test func aCancelledReadLeavesNoConsumer() async throws {
    let engine = try await engine(#""storage":"memory""#)
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let carrier = try carrier(engine)
    let start = try await carrier.end(of: log)
    let reading = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await carrier.read(log, after: start, limit: 32)
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
    // Without the request of the carrier, the server would delete it after a minute.
    try await eventually("the consumer is deleted", within: .seconds(40)) {
      try consumers(engine).isEmpty
    }
    await carrier.close()
  }

  /// More than are asked for together.
  @Test func allValuesOfAPrefixAreReturned() async throws {
    let engine = try await Engine(.nats)
    let carrier = try carrier(engine)
    var values: [String: [UInt8]] = [:]
    for number in 1...130 as ClosedRange<UInt8> {
      values["process\(number)"] = [number]
      let all = try await carrier.register(
        [number], as: "process\(number)", in: "multicast", expiry: .seconds(600))
      #expect(all.values == values)
    }
    await carrier.close()
  }

  /// While a handler does not return, the server deletes the consumer, and does not answer its next request.
  @Test func aConsumerThatWasNotAskedForAMinuteIsForgotten() async throws {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    var consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 0), read: nil, first: 1, end: nil)
    #expect(!consumer.isForgotten(at: .now))
    #expect(consumer.isForgotten(at: .now + .seconds(51)))
    // The server sends what it has been asked for.
    _ = try await withCheckedThrowingContinuation { done in
      _ = consumer.read(done, 32, end: 0)
      #expect(!consumer.isForgotten(at: .now + .seconds(51)))
      if case .deliver(_, let records) = consumer.take([1], 1, 1, 0) {
        done.resume(returning: records)
      }
    }
  }

  /// Records of other topics do not push an unread record of a quiet topic out of its stream.
  @Test func aQuietTopicHasNoGapAfterAReconnection() async throws {
    let engine = try await engine(#""storage":"memory","max_msgs":50"#)
    let relay = try Relay(to: engine.port)
    let own = NATSCarrier(try NATSConfiguration(url: "nats://127.0.0.1:\(relay.port)"))
    let both: (Carriage) -> Void = {
      $0.carry(.note, as: "note"); $0.carry(.other, as: "other")
    }
    let (one, two) = (
      Site(try carrier(engine), "one", carrying: both), Site(own, "two", carrying: both)
    )
    for site in [one, two] { await site.start(topics: 2) }
    one.post(1...3)
    await two.until { $0.notes(of: "one").count == 3 }
    for number in 1...200 {
      one.post(number...number, to: .other)
      await two.until { $0.notes(of: "one", in: "other").last == number }
    }
    let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
    try await eventually("the quiet topic is read to the end") {
      own.known.withLock { $0[log]?.number ?? 0 } > 190
    }
    for round in 0..<3 {
      relay.cut()
      one.post(4 + round...4 + round)
      await two.until { $0.notes(of: "one").last == 4 + round }
    }
    // The check of the next second comes before this one.
    await two.until { $0.state?.received == 206 }
    #expect(!two.seen.reports.contains { if case .gap = $0 { true } else { false } })
    for site in [one, two] { await site.stop() }
  }

  /// The stream drops the last record of a topic while a reader is away. The reader finds that out when it has read the next record,
  /// and loses the connection again before it asks.
  @Test func aDropIsNotForgottenWhenTheConnectionIsLostAgain() async throws {
    let engine = try await engine(#""storage":"memory","max_msgs":5"#)
    let relay = try Relay(to: engine.port)
    let reader = NATSCarrier(try NATSConfiguration(url: "nats://127.0.0.1:\(relay.port)"))
    let writer = NATSCarrier(try NATSConfiguration(url: engine.url))
    let (note, other) = (
      Log(prefix: "multicast", type: "note", keepsLatest: false),
      Log(prefix: "multicast", type: "other", keepsLatest: false)
    )
    func write(_ byte: UInt8, to log: Log) async throws {
      _ = try await writer.append([byte], to: log, id: .random(in: 0 ... .max))
    }
    /// Reads the next record, in spite of lost connections.
    func read(after position: Position) async throws -> Record {
      while true {
        do {
          if let record = try await reader.read(note, after: position, limit: 1).first {
            return record
          }
        } catch CarrierError.disconnected { try await Task.sleep(for: .milliseconds(50)) }
      }
    }
    try await write(1, to: note)
    let start = Position(epoch: try await reader.end(of: note).epoch, number: 0)
    let first = try await read(after: start)
    relay.cut()
    // The second record is dropped, and the third one is not.
    try await write(2, to: note)
    for byte in UInt8(3)...9 { try await write(byte, to: other) }
    try await write(10, to: note)
    let third = try await read(after: first.position)
    #expect(third.bytes == [10])
    relay.cut()
    try await write(11, to: note)
    let fourth = try await read(after: third.position)
    #expect(fourth.bytes == [11])
    #expect(try await !reader.isComplete(note, since: first.position))
    // Once.
    #expect(try await reader.isComplete(note, since: first.position))
    for carrier in [reader, writer] { await carrier.close() }
  }

  /// Any client that may publish to presence can choose the subject. A question that contained this one would be no JSON.
  @Test func aSubjectThatIsNoNameDoesNotEndPresence() async throws {
    let engine = try await Engine(.nats)
    let carrier = try carrier(engine)
    for round in 0..<2 {
      let (values, _) = try await carrier.register(
        [1], as: "one", in: "multicast", expiry: .seconds(60))
      #expect(values == ["one": [1]])
      if round > 0 { break }
      var connection: OpaquePointer?
      natsConnection_ConnectTo(&connection, engine.url)
      #expect(natsConnection_PublishString(connection, "multicast.here.a\u{1}b", "x") == NATS_OK)
      #expect(natsConnection_Flush(connection) == NATS_OK)
      natsConnection_Destroy(connection)
    }
    await carrier.close()
  }

  /// What a read of a cancelled task has found out must not be reported when the topic is carried again.
  @Test func whatIsKnownOfATopicEndsWithIt() async throws {
    let engine = try await engine(#""storage":"memory","max_msgs":5"#)
    let reader = NATSCarrier(try NATSConfiguration(url: engine.url))
    let note = Log(prefix: "multicast", type: "note", keepsLatest: false)
    let end = try await reader.append([1], to: note, id: .random(in: 0 ... .max))
    let beginning = Position(epoch: end.epoch, number: 0)
    #expect(try await reader.read(note, after: beginning, limit: 1).map(\.bytes) == [[1]])
    #expect(reader.known.withLock { $0[note]?.number } == end.number)
    let reading = Task { try await reader.read(note, after: end, limit: 1) }
    reading.cancel()
    reader.release(note)
    _ = await reading.result
    #expect(reader.known.withLock { $0[note] } == nil)
    await reader.close()
  }

  /// A topic that the rules of the server forbid is reported with the server's reason, and does not delay other topics.
  @Test(arguments: ["note", "Subscription"]) func aMissingRightIsReported(_ type: String)
    async throws
  {
    let engine = try await Engine(
      .nats,
      configuration: """
        authorization { users: [
          { user: me, password: "pass" }
          { user: one, password: "pass", permissions: {
            publish: { deny: ["multicast.log.\(type)"] }
            subscribe: { allow: ["_INBOX.one.>"] } } } ] }
        """)
    let both: (Carriage) -> Void = {
      $0.carry(.note, as: type)
      $0.carry(.other, as: "other")
    }
    let limited = try carrier(engine, user: "one:pass", nats: { $0.inbox = "_INBOX.one" })
    let one = Site(limited, "one", carrying: both)
    let two = Site(try carrier(engine, user: "me:pass"), "two", carrying: both)
    for site in [one, two] { await site.start(topics: 2) }
    one.post(1...3)
    one.post(1...3, to: .other)
    await two.until { $0.notes(of: "one", in: "other") == [1, 2, 3] }
    await one.until { seen in
      seen.reports.contains {
        if case .refused(type, let reason) = $0 {
          reason.contains("Permissions Violation")
        } else {
          false
        }
      }
    }
    #expect(one.carriage.condition.connection == .connected)
    for site in [one, two] { await site.stop() }
    // Without a right to its answers, it reports that.
    let mute = Site(try carrier(engine, user: "one:pass"), "mute")
    mute.run()
    await mute.until { $0.reports.contains { $0.reason?.contains("violation") ?? false } }
    await mute.stop()
    withExtendedLifetime(engine) {}
  }

  /// A right to create a consumer, and none to ask it for records.
  @Test func aForbiddenRequestForRecordsIsReported() async throws {
    let engine = try await Engine(
      .nats,
      configuration: """
        authorization { users: [
          { user: one, password: "pass", permissions: {
            publish: { deny: ["$JS.API.CONSUMER.MSG.NEXT.>"] } } } ] }
        """)
    let one = Site(try carrier(engine, user: "one:pass"), "one", carrying: topics)
    one.run()
    await one.until { seen in
      seen.reports.contains {
        if case .refused("note", let reason) = $0 { reason.contains("Violation") } else { false }
      }
    }
    #expect(one.carriage.condition.connection == .connected)
    await one.stop()
    withExtendedLifetime(engine) {}
  }

  @Test func recordsThatAStreamDropsUnreadAreReported() async throws {
    let engine = try await engine(#""storage":"memory","max_msgs":5"#)
    let sites = try ["gone", "here", "reader"].map {
      Site(try carrier(engine), $0, carrying: topics)
    }
    await checkThatDroppedRecordsAreReported(sites)
  }

  /// Three servers, each of which is killed and started again. The carriers that used it go on with another one.
  @Test func everyServerOfAClusterMayEnd() async throws {
    let ports = try (0..<3).map { _ in try Engine.freePort() }
    func configuration(_ index: Int) -> String {
      """
      server_name: n\(index)
      cluster {
        name: team, listen: "127.0.0.1:\(ports[index])"
        routes: [\(ports.map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", "))]
      }
      """
    }
    var engines: [Engine] = []
    for index in 0..<3 {
      engines.append(try await Engine(.nats, configuration: configuration(index)))
    }
    let urls = engines.map(\.url)
    func carrier() throws -> any Carrier {
      var configuration = try NATSConfiguration(urls: urls)
      configuration.replicas = 3
      return NATSCarrier(configuration)
    }
    let one = Site(try carrier(), "one", carrying: topics)
    let two = Site(try carrier(), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    var count = 0
    func exchange() async {
      one.post(count + 1...count + 50)
      two.post(count + 1...count + 50)
      count += 50
      let all = count
      for site in [one, two] {
        await site.until { seen in
          ["one", "two"].allSatisfy { seen.notes(of: $0).count >= all }
        }
      }
    }
    await exchange()
    for index in 0..<3 {
      try await engines[index].program.kill9()
      await exchange()
      engines[index] = try await Engine(
        .nats, again: engines[index], configuration: configuration(index))
      await exchange()
    }
    for site in [one, two] {
      for name in ["one", "two"] { #expect(site.seen.notes(of: name) == Array(1...count)) }
      #expect(site.seen.missing == 0)
      await site.stop()
    }
  }

  /// The server may repeat what the client says to it: here, with a password, or a token in the place of the user.
  @Test(arguments: ["me:hidden@", "me:hid%64en@", "hidden@", "", "token"])
  func noReportContainsASecret(_ user: String) async throws {
    let (server, port) = try await falseServer { Parrot() }
    let address = user.hasSuffix("@") ? user : ""
    var configuration = try NATSConfiguration(url: "nats://\(address)127.0.0.1:\(port)")
    if user == "" { (configuration.user, configuration.password) = ("me", "hidden") }
    if user == "token" { configuration.token = "hidden" }
    let carrier = NATSCarrier(configuration)
    let one = Site(carrier, "one", carrying: topics)
    one.run()
    let reasons = await one.until { $0.reports.contains { $0.reason != nil } }.reports
      .compactMap(\.reason)
    #expect(reasons.contains { $0.contains("unknown words: connect") && $0.contains("…") })
    #expect(!reasons.contains { $0.contains("hidden") || $0.contains("hid%64en") })
    var dumped = ""
    dump(carrier, to: &dumped)
    #expect(!dumped.contains("hidden") && !dumped.contains("hid%64en"))
    await one.stop()
    try await server.close()
  }

  /// A connection learns the limit of the server when it begins. Later, another process may store a larger record.
  @Test func aRecordAboveTheLimitOfTheConnectionIsReported() async throws {
    let engine = try await Engine(.nats, configuration: "max_payload: 1048576")
    let one = Site(try carrier(engine), "one", carrying: topics)
    await one.start(topics: 1)
    one.post(1...1)
    await one.until { $0.state?.sent == 1 }
    let larger = engine.program.text("conf").replacing("1048576", with: "8388608")
    try larger.write(toFile: engine.program.path("conf"), atomically: true, encoding: .utf8)
    engine.program.signal(SIGHUP)
    try await eventually("the server has the new limit") {
      engine.program.text("err").contains("Reloaded server configuration")
    }
    let two = Site(try carrier(engine), "two", carrying: topics)
    await two.start(topics: 1)
    two.center.post(.note, Note("two", 1, String(repeating: "x", count: 3_000_000)))
    let seen = await one.until { seen in seen.reports.contains { $0.reason != nil } }
    #expect(
      seen.reports.compactMap(\.reason) == ["a record is larger than this connection takes."])
    #expect(one.carriage.condition.refusals.keys.sorted() == ["note"])
    for site in [one, two] { await site.stop() }
  }

  /// The records that came before it have used up what was asked for, so it comes with the next request.
  @Test func aRecordThatExceedsTheRestOfARequestIsNotRefused() async throws {
    let log = Log(prefix: "p", type: "note", keepsLatest: false)
    var consumer = Consumer(
      log, "name", after: Position(epoch: 1, number: 0), read: nil, first: 1, end: nil)
    var ends: [Bool] = []
    for hasRecord in [true, false] {
      _ = try await withCheckedThrowingContinuation { done in
        _ = consumer.read(done, 32, end: 0)
        guard hasRecord else { return done.resume(returning: []) }
        if case .deliver(_, let records) = consumer.take([1], 1, 1, 0) {
          done.resume(returning: records)
        }
      }
      if case .end = consumer.take("409 Message Size Exceeds MaxBytes") {
        ends.append(true)
      } else {
        ends.append(false)
      }
    }
    #expect(ends == [false, true])
  }

  /// Credentials that are not in the URL.
  @Test(arguments: ["password", "token", "file"])
  func usersThatTheServerKnowsCanConnect(_ kind: String) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).creds").path
    try Operator.credentials.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let rules = [
      "password": "authorization { user: me, password: secret }",
      "token": "authorization { token: secret }", "file": Operator.configuration,
    ]
    let engine = try await Engine(.nats, configuration: try #require(rules[kind]))
    let stranger = try carrier(engine)
    await #expect(throws: CarrierError.self) {
      try await stranger.end(of: Log(prefix: "p", type: "note", keepsLatest: false))
    }
    await stranger.close()
    let sites = try ["one", "two"].map { name in
      let own = try carrier(engine) { configuration in
        switch kind {
        case "password": (configuration.user, configuration.password) = ("me", "secret")
        case "token": configuration.token = "secret"
        default: configuration.credentialsFile = path
        }
      }
      return Site(own, name, carrying: topics)
    }
    for site in sites { await site.start(topics: 1) }
    sites[0].post(1...10)
    await sites[1].until { $0.notes(of: "one") == Array(1...10) }
    for site in sites { await site.stop() }
    withExtendedLifetime(engine) {}
  }
}

/// A server that refuses each client, and repeats what the client says of itself.
private final class Parrot: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelActive(context: ChannelHandlerContext) {
    write(#"INFO {"server_id":"parrot","version":"2.9.0","max_payload":1048576}"#, context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let line = String(buffer: unwrapInboundIn(data)).prefix { !$0.isNewline }
    write("-ERR 'Unknown words: \(line)'", context)
  }

  private func write(_ line: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line + "\r\n")), promise: nil)
  }
}

/// An operator, an account with JetStream, a system account and a user. Only these tests use the names and keys, which
/// do not expire.
private enum Operator {
  static let configuration = """
    operator: eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiIxIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3M\
    iOiJPREhIRUc0U1Q1NklUSjZaNDI3V0daVEQzQVFOV0xKRFNNR0I3RFNVT1pKTjc3Q1VUWjQ0WkZaVyIsIm5hbWUiO\
    iJ0ZXN0Iiwic3ViIjoiT0RISEVHNFNUNTZJVEo2WjQyN1dHWlREM0FRTldMSkRTTUdCN0RTVU9aSk43N0NVVFo0NFp\
    GWlciLCJuYXRzIjp7InR5cGUiOiJvcGVyYXRvciIsInZlcnNpb24iOjJ9fQ.tWsC7hwyU2VSM-\
    5CO99_ntrvCvvE7gIbnzAsNDQcU6-VdyGzXXeAy1iZwK0WJ-D2j3h2MSXv1hYUl8r2DA-FBQ
    system_account: AAW7SLII7CMJBWCSO3T2DEJBOU23HNJQHZN7TV4YMXK6RPQWOSDM5HND
    resolver: MEMORY
    resolver_preload: {
    ACR7MCCLE75RFW4ZPDXBBLAENDOAFC4YS3LOXGLZ5JOKDH2LKJAPC4WH: \
    eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiIxIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3M\
    iOiJPREhIRUc0U1Q1NklUSjZaNDI3V0daVEQzQVFOV0xKRFNNR0I3RFNVT1pKTjc3Q1VUWjQ0WkZaVyIsIm5hbWUiO\
    iJ0ZXN0Iiwic3ViIjoiQUNSN01DQ0xFNzVSRlc0WlBEWEJCTEFFTkRPQUZDNFlTM0xPWEdMWjVKT0tESDJMS0pBUEM\
    0V0giLCJuYXRzIjp7InR5cGUiOiJhY2NvdW50IiwibGltaXRzIjp7InN1YnMiOi0xLCJkYXRhIjotMSwicGF5bG9hZ\
    CI6LTEsImltcG9ydHMiOi0xLCJleHBvcnRzIjotMSwid2lsZGNhcmRzIjp0cnVlLCJjb25uIjotMSwibGVhZiI6LTE\
    sIm1lbV9zdG9yYWdlIjotMSwiZGlza19zdG9yYWdlIjotMSwic3RyZWFtcyI6LTEsImNvbnN1bWVyIjotMX0sInZlc\
    nNpb24iOjJ9fQ.TOhOpdiB5hesH37mxsTY3P-\
    S5tYOvVav_ZclqNwC7n4tnJpCJpMrf6h8K4fhq9by7TnGnGbdtlPACoftxCPSDw
    AAW7SLII7CMJBWCSO3T2DEJBOU23HNJQHZN7TV4YMXK6RPQWOSDM5HND: \
    eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiIxIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3M\
    iOiJPREhIRUc0U1Q1NklUSjZaNDI3V0daVEQzQVFOV0xKRFNNR0I3RFNVT1pKTjc3Q1VUWjQ0WkZaVyIsIm5hbWUiO\
    iJzeXN0ZW0iLCJzdWIiOiJBQVc3U0xJSTdDTUpCV0NTTzNUMkRFSkJPVTIzSE5KUUhaTjdUVjRZTVhLNlJQUVdPU0R\
    NNUhORCIsIm5hdHMiOnsidHlwZSI6ImFjY291bnQiLCJsaW1pdHMiOnsic3VicyI6LTEsImRhdGEiOi0xLCJwYXlsb\
    2FkIjotMSwiaW1wb3J0cyI6LTEsImV4cG9ydHMiOi0xLCJ3aWxkY2FyZHMiOnRydWUsImNvbm4iOi0xLCJsZWFmIjo\
    tMX0sInZlcnNpb24iOjJ9fQ.RWOs-Q0GtNOppEb_KE6koECEOKU6_7ZOPr38jNWininBLTjdZGSW6wTA-\
    qihCloFHlDnh-b1pxm0_-FsP8rCCw
    }
    """
  static let credentials = """
    -----BEGIN NATS USER JWT-----
    eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiIxIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3M\
    iOiJBQ1I3TUNDTEU3NVJGVzRaUERYQkJMQUVORE9BRkM0WVMzTE9YR0xaNUpPS0RIMkxLSkFQQzRXSCIsIm5hbWUiO\
    iJ0ZXN0Iiwic3ViIjoiVUFTNjJSWTZDQU42UDdMTVBET0FORkpTSEpEUTZaSEFUUEM3SllCNVVTQlRRVE1PUk5TN1B\
    MTE0iLCJuYXRzIjp7InR5cGUiOiJ1c2VyIiwic3VicyI6LTEsImRhdGEiOi0xLCJwYXlsb2FkIjotMSwidmVyc2lvb\
    iI6Mn19.jnYH6VTqTzVpjDLjfV7UpUNxTDbsBv63BB0EhB5jpCZ9TU-\
    rP0gKQWuQR7gzclrxTB5AKJFGEtSC_XjbNDLwCA
    ------END NATS USER JWT------

    -----BEGIN USER NKEY SEED-----
    SUAAJ6EZNWTWHN5JNGYQFDXDAB2WT2XTUY2UQ3O2WII5KEWILOO7R67BBI
    ------END USER NKEY SEED------

    """
}
