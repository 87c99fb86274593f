import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis
import NIOCore
import NIOPosix
import Testing

/// A carrier of the engine that a test has started, at its port or the port of a relay.
func carrier(
  _ engine: Engine, user: String? = nil, port: Int? = nil,
  nats: (inout NATSConfiguration) -> Void = { _ in },
  redis: (inout RedisConfiguration) -> Void = { _ in }
) throws -> any Carrier & Registry {
  let url = "\(engine.kind)://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(port ?? engine.port)"
  switch engine.kind {
  case .nats:
    var configuration = try NATSConfiguration(url: url)
    nats(&configuration)
    return NATSCarrier(configuration)
  case .redis:
    var configuration = try RedisConfiguration(url: url)
    redis(&configuration)
    return RedisCarrier(configuration)
  }
}

extension CarriageReport {
  var reason: String? {
    switch self {
    case .disconnected(let reason), .refused(_, let reason): reason.lowercased()
    default: nil
    }
  }
}

/// Checks that a reader receives a report of the records that a log of five records dropped unread.
///
/// - Parameter sites: A sender that ends, a sender that goes on, and the reader.
func checkThatDroppedRecordsAreReported(_ sites: [Site]) async {
  let (gone, here, reader) = (sites[0], sites[1], sites[2])
  for site in sites { await site.start(topics: 1) }
  let gate = AsyncStream<Never>.makeStream()
  reader.center.observe(.note, owner: reader) { _, _ in for await _ in gate.stream {} }
  // Each message in its own record.
  func post(_ numbers: ClosedRange<Int>, by site: Site) async {
    for number in numbers {
      site.post(number...number)
      while site.carriage.condition.sent < number { await Task.yield() }
    }
  }
  await post(1...100, by: here)
  await post(1...100, by: gone)
  await gone.stop()
  await post(101...110, by: here)
  gate.continuation.finish()
  // The numbers of a sender that posts again show how many are missing. For a sender that does not, the count is
  // unknown.
  let seen = await reader.until { seen in
    seen.notes(of: "here").last == 110
      && seen.reports.contains(.gap(type: "note", sender: nil, missing: nil))
      && seen.notes(of: "here").count + Int(seen.missing) >= 110
  }
  #expect(seen.notes(of: "here").count + Int(seen.missing) == 110 && seen.missing > 50)
  #expect(seen.notes(of: "here") == seen.notes(of: "here").sorted())
  #expect(seen.reports.count { $0 == .gap(type: "note", sender: nil, missing: nil) } == 1)
  // A log that is read as fast as it is written causes no report, however short it is.
  reader.forget()
  for number in 111...160 {
    await post(number...number, by: here)
    await reader.until { $0.notes(of: "here").last == number }
  }
  #expect(!reader.seen.reports.contains { if case .gap = $0 { true } else { false } })
  for site in [here, reader] { await site.stop() }
}

@Suite(.timeLimit(.minutes(30))) struct ConformanceTests {
  @Test(arguments: Engine.Kind.tested) func conforms(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let broken = try await CarrierConformance { try carrier(engine) }.check()
    #expect(broken.isEmpty)
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: Engine.Kind.tested) func comesBack(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let first = engine
    let conformance = CarrierConformance { try carrier(first) }
    let broken = try await conformance.check(restart: {
      try await engine.program.kill9()
      engine = try await Engine(kind, again: engine)
    })
    #expect(broken.isEmpty)
  }

  @Test(arguments: Engine.Kind.tested)
  func aLogThatHasLostItsEndIsStillRead(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let first = engine
    let broken = try await CarrierConformance { try carrier(first) }.check(
      save: {
        try await engine.program.kill9()
        try engine.copyStore()
        engine = try await Engine(kind, again: engine)
      },
      restore: {
        try await engine.program.kill9()
        try engine.restoreStore()
        engine = try await Engine(kind, again: engine)
      })
    #expect(broken.isEmpty)
  }

  @Test(arguments: Engine.Kind.tested)
  func aLogThatIsGoneIsReported(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let first = engine
    let broken = try await CarrierConformance { try carrier(first) }.check(empty: {
      if kind == .redis {
        // While the server runs.
        let program = try Program("redis-cli", ["-p", "\(engine.port)", "flushall"])
        #expect(try await program.status() == 0)
      } else {
        try await engine.program.kill9()
        engine = try await Engine(kind, port: engine.port)
      }
    })
    #expect(broken.isEmpty)
  }
}

@Suite(.timeLimit(.minutes(30))) struct EngineTests {
  private let topics: (Carriage) -> Void = { $0.carry(.note, as: "note") }

  @Test(arguments: Engine.Kind.tested)
  func presenceOfAProcessThatIsKilledEnds(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    func presence(_ name: String) throws -> (Presence, Site, any Carrier) {
      let own = try carrier(engine)
      let site = Site(own, name, carrying: { _ in })
      let presence = Presence(center: site.center, registry: own, name: name, expiry: .seconds(3))
      return (presence, site, own)
    }
    let (one, site, _) = try presence("one")
    var reports = site.center.messages(of: .presence).makeAsyncIterator()
    let running = Task { await one.run() }
    #expect(await reports.next() == .joined(one.own, isOwn: true))
    let (two, _, second) = try presence("two")
    let other = Task { await two.run() }
    #expect(await reports.next() == .joined(two.own, isOwn: false))
    await second.close()
    #expect(await reports.next() == .left(two.own))
    for task in [running, other] { task.cancel() }
    await running.value
    withExtendedLifetime(engine) {}
  }

  /// Ten processes, and an engine that is away for longer than the expiry: when it comes back, no key is left.
  @Test(arguments: Engine.Kind.tested)
  func noProcessLeavesInAnOutage(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let first = engine
    // In this time, each process has to connect again and to store its key, also on a busy machine.
    let expiry = Duration.seconds(20)
    let left = Locked<[Presence.Member]>([])
    let all = try (0..<10).map { number in
      let own = try carrier(first)
      let site = Site(own, "site \(number)", carrying: { _ in })
      site.center.observe(.presence, owner: site) { _, report in
        if case .left(let member) = report { left.withLock { $0.append(member) } }
      }
      let presence = Presence(center: site.center, registry: own, name: site.name, expiry: expiry)
      return (site: site, presence: presence, carrier: own)
    }
    let running = all.map { member in Task { await member.presence.run() } }
    try await eventually("all are here") { all.allSatisfy { $0.presence.members.count == 10 } }
    try await engine.program.kill9()
    try await eventually("all have noticed") { all.allSatisfy { $0.presence.problem != nil } }
    // Redis has stored the keys on its disk. They expire in this time.
    try await Task.sleep(for: expiry)
    engine = try await Engine(kind, again: engine)
    try await eventually("all are back") { all.allSatisfy { $0.presence.problem == nil } }
    // Only the process that ends afterwards has left.
    running[0].cancel()
    try await eventually("one has left") { left.withLock { $0.count } >= 9 }
    #expect(left.withLock { $0 } == Array(repeating: all[0].presence.own, count: 9))
    for task in running {
      task.cancel()
      await task.value
    }
    for member in all { await member.carrier.close() }
  }

  /// More bytes than the server buffers for a client, and than one read should return.
  @Test(arguments: Engine.Kind.tested)
  func manyLargeRecordsAreRead(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(
      kind, configuration: kind == .redis ? "client-output-buffer-limit normal 1mb 0 0" : "")
    let one = Site(try carrier(engine), "one", carrying: topics)
    await one.start(topics: 1)
    let text = String(repeating: "x", count: 60 << 10)
    for number in 1...60 { one.center.post(.note, Note("one", number, text)) }
    await one.until { $0.state?.sent == 60 }
    let two = Site(try carrier(engine), "two") { $0.carry(.note, as: "note", from: .beginning) }
    await two.start(topics: 1)
    let seen = await two.until { $0.notes(of: "one").count >= 60 }
    #expect(seen.notes(of: "one") == Array(1...60))
    for site in [one, two] { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// A record that takes longer than the first time-out, to send and to read.
  @Test(arguments: Engine.Kind.tested)
  func aSlowConnectionTakesALargeRecord(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let relay = try Relay(to: engine.port, rate: 80_000)
    let one = Site(try carrier(engine, port: relay.port), "one", carrying: topics)
    let two = Site(try carrier(engine, port: relay.port), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    one.center.post(.note, Note("one", 1, String(repeating: "x", count: 900_000)))
    let seen = await two.until { $0.notes(of: "one").count >= 1 }
    #expect(seen.notes(of: "one") == [1])
    for site in [one, two] { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: Engine.Kind.tested)
  func anEngineThatHangsIsNoticed(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let one = Site(try carrier(engine), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    engine.program.signal(SIGSTOP)
    // The test does not wait for these posts.
    one.post(1...1_000)
    await one.until { $0.notes(of: "one").count == 1_000 }
    await one.until { $0.reports.contains { $0.reason != nil } }
    engine.program.signal(SIGCONT)
    let seen = await two.until { $0.notes(of: "one").count >= 1_000 }
    #expect(seen.notes(of: "one") == Array(1...1_000) && seen.missing == 0)
    for site in [one, two] { await site.stop() }
  }

  @Test(arguments: Engine.Kind.tested)
  func connectsAfterTheCredentialsAreCorrected(_ kind: Engine.Kind) async throws {
    func rules(_ password: String) -> String {
      kind == .nats
        ? "authorization { user: me, password: \(password) }"
        : "user default off\nuser me on >\(password) ~* &* +@all"
    }
    var engine = try await Engine(kind, configuration: rules("old"))
    let one = Site(try carrier(engine, user: "me:new"), "one", carrying: topics)
    one.run()
    await one.until { seen in
      return seen.reports.contains { report in
        ["auth", "wrongpass"].contains { report.reason?.contains($0) ?? false }
      }
    }
    one.post(1...3)
    try await engine.program.kill9()
    engine = try await Engine(kind, again: engine, configuration: rules("new"))
    await one.until { $0.reports.contains(.connected) && $0.began == 1 }
    let two = Site(try carrier(engine, user: "me:new"), "two", from: .beginning)
    await two.start()
    await two.until { $0.notes(of: "one") == [1, 2, 3] }
    for site in [one, two] { await site.stop() }
  }

  @Test(arguments: Engine.Kind.tested)
  func theFirstOfSeveralServersMayBeDown(_ kind: Engine.Kind) async throws {
    // Redis has one address.
    guard kind == .nats else { return }
    let engine = try await Engine(kind)
    let configuration = try NATSConfiguration(
      url: "nats://127.0.0.1:\(try Engine.freePort())", engine.url)
    let one = Site(NATSCarrier(configuration), "one", carrying: topics)
    let two = Site(try carrier(engine), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...10)
    await two.until { $0.notes(of: "one") == Array(1...10) }
    for site in [one, two] { await site.stop() }
    withExtendedLifetime(engine) {}
  }

  /// Creates and releases carriers in a loop, under load. No object that a thread of an engine's client uses may be
  /// deallocated.
  @Test(arguments: Engine.Kind.tested)
  func carriersEndUnderLoad(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let steady = Site(try carrier(engine), "steady", carrying: topics)
    await steady.start(topics: 1)
    let load = Task {
      var number = 0
      while !Task.isCancelled {
        number += 50
        steady.post(number - 49..<number)
        // No more than the machine can handle.
        _ = await steady.center.post(.note, Note("steady", number)).delivered()
        while steady.carriage.condition.waitingMessages > 500, !Task.isCancelled {
          await Task.yield()
        }
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    for round in 0..<20 {
      let site = Site(try carrier(engine), "round \(round)", carrying: topics)
      await site.start(topics: 1)
      site.post(1...20)
      await site.until { $0.notes(of: "steady").count > 20 }
      // While one task reads, one writes, and one waits for the end.
      site.post(1...20)
      await site.stop()
      // Several carriers that read everything. They are closed, or released, or released before they have connected.
      await withTaskGroup { group in
        for number in 0..<12 {
          group.addTask {
            guard let carrier = try? carrier(engine) else { return }
            let log = Log(prefix: "multicast", type: "note", keepsLatest: false)
            guard number % 3 > 0, let end = try? await carrier.end(of: log) else { return }
            var place = Position(epoch: end.epoch, number: 0)
            for _ in 0..<number {
              place =
                (try? await carrier.read(log, after: place, limit: 32))?.last?.position ?? place
            }
            let position = place
            async let reading = carrier.read(log, after: position, limit: 32)
            async let writing = carrier.append([1], to: log, id: .random(in: 0 ... .max))
            if number % 3 == 1 { await carrier.close() }
            _ = try? await (reading, writing)
          }
        }
      }
    }
    load.cancel()
    await load.value
    await steady.stop()
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: Engine.Kind.tested)
  func connectionsThatAreCutUnderLoadLoseNothing(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let relay = try Relay(to: engine.port)
    let one = Site(try carrier(engine, port: relay.port), "one", carrying: topics)
    let two = Site(try carrier(engine, port: relay.port), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    for round in 1...40 {
      one.post((round - 1) * 50 + 1...round * 50)
      relay.cut()
      await two.until { $0.notes(of: "one").count >= round * 50 }
    }
    let seen = two.seen
    #expect(seen.notes(of: "one") == Array(1...2_000) && seen.missing == 0)
    for site in [one, two] { await site.until { $0.state?.waitingMessages == 0 } }
    for site in [one, two] { await site.stop() }
  }

  @Test(arguments: Engine.Kind.tested)
  func aConnectionThatFallsSilentIsGivenUp(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let relay = try Relay(to: engine.port)
    let one = Site(try carrier(engine, port: relay.port), "one", carrying: topics)
    let two = Site(try carrier(engine, port: relay.port), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...10)
    await two.until { $0.notes(of: "one").count == 10 }
    relay.silence()
    one.post(11...1_000)
    let seen = await two.until { $0.notes(of: "one").count >= 1_000 }
    #expect(seen.notes(of: "one") == Array(1...1_000) && seen.missing == 0)
    await one.until { $0.reports.contains { $0.reason != nil } }
    for site in [one, two] { await site.stop() }
  }

  @Test func aKeyOfAnotherTypeDelaysNoOtherTopic() async throws {
    let engine = try await Engine(.redis)
    let program = try Program(
      "redis-cli", ["-p", "\(engine.port)", "set", "multicast:log:note", "mine"])
    #expect(try await program.status() == 0)
    let one = Site(try carrier(engine), "one")
    one.run()
    one.post(1...3)
    one.post(1...3, to: .other)
    await one.until { seen in
      seen.reports.contains { $0.reason?.contains("wrongtype") ?? false } && seen.began >= 2
    }
    #expect(one.carriage.condition.connection == .connected)
    #expect(one.carriage.condition.refusals["note"] != nil)
    let two = Site(try carrier(engine), "two") { $0.carry(.other, as: "other", from: .beginning) }
    await two.start(topics: 1)
    await two.until { $0.notes(of: "one", in: "other") == [1, 2, 3] }
    for site in [one, two] { await site.stop() }
  }

  @Test func refusalsOfAServerAreReported() async throws {
    // An engine without room.
    let full = try await Engine(
      .redis, configuration: "maxmemory 100kb\nmaxmemory-policy noeviction")
    let one = Site(try carrier(full), "one", carrying: topics)
    one.run()
    one.post(1...1)
    await one.until { $0.reports.contains { $0.reason?.contains("oom") ?? false } }
    let program = try Program(
      "redis-cli", ["-p", "\(full.port)", "config", "set", "maxmemory", "100mb"])
    #expect(try await program.status() == 0)
    let two = Site(try carrier(full), "two", from: .beginning)
    await two.start()
    await two.until { $0.notes(of: "one") == [1] }
    for site in [one, two] { await site.stop() }
    withExtendedLifetime(full) {}
  }

  @Test func addressesAreChecked() throws {
    for url in ["nonsense", "nats://", "http://127.0.0.1", "nats://host:port", "redis://h:1"] {
      #expect(throws: CarrierError.self) { try NATSConfiguration(url: url) }
    }
    for url in ["nonsense", "redis://", "rediss://", "nats://h:1", "redis://host:port"] {
      #expect(throws: CarrierError.self) { try RedisConfiguration(url: url) }
    }
    // The sentence may be logged, so it must not contain the password.
    for text in [
      #expect(throws: CarrierError.self) {
        try RedisConfiguration(url: "redis://me:secret@host:port")
      },
      #expect(throws: CarrierError.self) {
        try NATSConfiguration(url: "nats://me:secret@host:port")
      },
    ].map({ $0?.description ?? "" }) {
      #expect(text.contains("://…@host:port is no") && !text.contains("secret"))
    }
    var nats = try NATSConfiguration(url: "nats://me:secret@host", "tls://secret@host")
    (nats.password, nats.token) = ("secret", "secret")
    for configuration in [nats, try RedisConfiguration(url: "redis://me:secret@host")] as [Any] {
      var dumped = ""
      dump(configuration, to: &dumped)
      #expect(dumped.contains("host"), "The address is shown.")
      for text in ["\(configuration)", String(reflecting: configuration), dumped] {
        #expect(!text.contains("secret"))
      }
    }
    let redis = try RedisConfiguration(url: "redis://me:se%40cret@host:7000/3")
    #expect(redis.url.user == "me" && redis.url.password == "se@cret" && redis.url.path == "/3")
    #expect(redis.url.host == "host" && redis.url.port == 7_000)
    #expect(try RedisConfiguration(url: "rediss://[::1]").url.scheme == "rediss")
    let other = try NATSConfiguration(url: "tls://[::1]:4222", "nats://me@host")
    #expect(other.urls.count == 2)
  }

  @Test(arguments: Engine.Kind.tested)
  func encryptedConnectionsAreChecked(_ kind: Engine.Kind) async throws {
    let (authority, stranger) = (try await Authority(), try await Authority())
    let engine = try await Engine(kind, configuration: authority.configuration(kind))
    func carrier(_ authority: Authority?) throws -> any Carrier {
      let file = authority?.program.path("ca.pem")
      if kind == .redis {
        var configuration = try RedisConfiguration(url: "rediss://localhost:\(engine.port)")
        configuration.certificateAuthority = file
        return RedisCarrier(configuration)
      }
      var configuration = try NATSConfiguration(url: "tls://localhost:\(engine.port)")
      configuration.certificateAuthority = file
      return NATSCarrier(configuration)
    }
    let one = Site(try carrier(authority), "one", carrying: topics)
    let two = Site(try carrier(authority), "two", carrying: topics)
    for site in [one, two] { await site.start(topics: 1) }
    one.post(1...1)
    await two.until { $0.notes(of: "one") == [1] }
    for site in [one, two] { await site.stop() }
    // It does not connect without encryption. With another authority, or with the authorities of the system, it reports
    // why.
    let bare = Site(try plain(engine), "bare", carrying: topics)
    bare.run()
    await bare.until { $0.reports.contains { $0.reason != nil } }
    #expect(!bare.seen.reports.contains(.connected))
    await bare.stop()
    for wrong in [
      try carrier(stranger), try carrier(nil),
    ] {
      let site = Site(wrong, "wrong", carrying: topics)
      site.run()
      await site.until { seen in
        return seen.reports.contains { report in
          ["certificate", "tls", "ssl"].contains { report.reason?.contains($0) ?? false }
        }
      }
      #expect(!site.seen.reports.contains(.connected))
      await site.stop()
    }
    withExtendedLifetime(engine) {}
  }

  private func plain(_ engine: Engine) throws -> any Carrier {
    engine.kind == .nats
      ? NATSCarrier(try .init(url: "nats://localhost:\(engine.port)"))
      : RedisCarrier(try .init(url: "redis://localhost:\(engine.port)"))
  }

  /// Certificates for this machine, made with `openssl`.
  private struct Authority {
    let program: Program

    init() async throws {
      program = try Program(
        "/bin/sh",
        [
          "-c",
          """
          openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \
            -keyout FOLDER/ca.key -out FOLDER/ca.pem &&
          openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout FOLDER/key.pem \
            -out FOLDER/request.pem &&
          printf 'subjectAltName=DNS:localhost' > FOLDER/names &&
          openssl x509 -req -in FOLDER/request.pem -CA FOLDER/ca.pem -CAkey FOLDER/ca.key \
            -CAcreateserial -days 2 -extfile FOLDER/names -out FOLDER/cert.pem
          """,
        ])
      let status = try await program.status()
      try #require(status == 0, "\(program.text("err"))")
    }

    func configuration(_ kind: Engine.Kind) -> String {
      let (cert, key) = (program.path("cert.pem"), program.path("key.pem"))
      return kind == .nats
        ? "tls { cert_file: \"\(cert)\", key_file: \"\(key)\" }"
        : """
        port 0
        tls-port PORT
        tls-auth-clients no
        tls-cert-file \(cert)
        tls-key-file \(key)
        tls-ca-cert-file \(program.path("ca.pem"))
        """
    }
  }
}

/// Starts a server that answers each connection with a handler, as no honest engine would.
func falseServer(
  _ makeHandler: @escaping @Sendable () -> some ChannelHandler
) async throws -> (server: any Channel, port: Int) {
  let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(makeHandler())
      }
    }
    .bind(host: "127.0.0.1", port: 0).get()
  return (server, try #require(server.localAddress?.port))
}
