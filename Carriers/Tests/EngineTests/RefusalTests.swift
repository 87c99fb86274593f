import Foundation
import Logging
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Engines that refuse, are wrong, or stand still.
@Suite(.timeLimit(.minutes(60))) struct RefusalTests {
  /// A carriage of this process, and what it reports.
  private final class Site: Sendable {
    let center = MulticastCenter(carrying: .carriage)
    let carriage: Carriage
    let numbers = NIOLockedValueBox<[Int]>([])
    private let log = NIOLockedValueBox<[(ContinuousClock.Instant, CarriageReport)]>([])
    private let task = NIOLockedValueBox<Task<Void, Never>?>(nil)

    init(_ carrier: any Carrier, _ name: String) {
      carriage = Carriage(
        center: center, carrier: carrier, name: name, limits: .patient,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      carriage.carry(Topic<Int>("number"), as: "number")
      center.observe(Topic<Int>("number"), owner: self) { site, number in
        site.numbers.withLockedValue { $0.append(number) }
      }
      center.observe(.carriage, owner: self) { site, report in
        site.log.withLockedValue { $0.append((.now, report)) }
      }
      task.withLockedValue { $0 = Task { [carriage] in await carriage.run() } }
    }

    func post(_ number: Int) { center.post(Topic<Int>("number"), number) }

    /// When it reports this for the first time after an instant.
    func reports(
      after start: ContinuousClock.Instant = .now - .seconds(600),
      _ matches: (CarriageReport) -> Bool
    ) async throws -> ContinuousClock.Instant {
      var found: ContinuousClock.Instant?
      try await eventually("\(carriage.identity) reports it") {
        found = self.log.withLockedValue { $0 }.first { $0.0 >= start && matches($0.1) }?.0
        return found != nil
      }
      return try #require(found)
    }

    var reasons: [String] {
      log.withLockedValue { log in
        log.compactMap {
          switch $0.1 {
          case .disconnected(let reason), .problem(let reason): reason
          default: nil
          }
        }
      }
    }

    func stop() async {
      let task = task.withLockedValue { $0 }
      task?.cancel()
      await task?.value
    }
  }

  private func milliseconds(_ one: ContinuousClock.Instant, _ two: ContinuousClock.Instant) -> Int {
    Int((two - one) / .milliseconds(1))
  }

  @Test(arguments: Engine.Kind.allCases)
  func connectsOnceTheCredentialsAreRight(_ kind: Engine.Kind) async throws {
    func rules(_ password: String) -> String {
      kind == .nats
        ? "authorization { user: me, password: \(password) }"
        : "user default off\nuser me on >\(password) ~* &* +@all"
    }
    var engine = try await Engine(kind, configuration: rules("old"))
    let one = Site(try carrier(engine, user: "me:new"), "one")
    _ = try await one.reports {
      if case .disconnected(let reason) = $0 {
        reason.lowercased().contains("auth") || reason.contains("WRONGPASS")
      } else {
        false
      }
    }
    try await Task.sleep(for: .seconds(60))
    try await engine.program.kill9()
    // The carrier may be connected before this test has noticed its engine.
    let right = ContinuousClock.now
    engine = try await Engine(kind, port: engine.port, configuration: rules("new"))
    let back = try await one.reports(after: right) { $0 == .connected }
    measured("\(kind): credentials wrong for 1 min, then right", milliseconds(right, back))
    await one.stop()
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: Engine.Kind.allCases, ["publish", "subscribe"])
  func tellsADeniedPermissionInTheWordsOfTheEngine(
    _ kind: Engine.Kind, _ action: String
  ) async throws {
    // Redis knows channels, not directions.
    guard kind == .nats || action == "subscribe" else { return }
    let engine = try await Engine(
      kind,
      configuration: kind == .nats
        ? """
        authorization { users: [
          {user: me, password: secret, permissions: {\(action): {deny: "multicast.topic.>"}}}
        ] }
        """
        : "user default off\nuser me on >secret ~* +@all &multicast.control &multicast.inbox.*")
    let one = Site(try carrier(engine, user: "me:secret"), "one")
    let connected = try await one.reports { $0 == .connected }
    one.post(1)
    let posted = ContinuousClock.now
    let told = try await one.reports {
      if case .problem(let text) = $0 {
        text.lowercased().contains("permission") && text.contains("multicast.topic.number")
          || text.contains("NOPERM")
      } else {
        false
      }
    }
    measured(
      "\(kind): permission to \(action) denied", max(0, milliseconds(max(connected, posted), told)))
    #expect(one.carriage.condition.problem != nil)
    await one.stop()
    withExtendedLifetime(engine) {}
  }

  @Test(arguments: Engine.Kind.allCases)
  func noticesAnEngineThatStandsStill(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let one = Site(try carrier(engine), "one")
    let two = Site(try carrier(engine), "two")
    for (one, two) in [(one, two), (two, one)] {
      _ = try await one.reports { $0 == .joined(two.carriage.identity) }
    }
    let stalled = ContinuousClock.now
    engine.program.signal(SIGSTOP)
    // Nobody waits for it: it goes on after all posts have returned.
    for number in 0..<1_000 { one.post(number) }
    #expect(one.numbers.withLockedValue { $0.count } == 1_000)
    measured("\(kind): 1,000 posts while the engine stands still", milliseconds(stalled, .now))
    let told = try await one.reports(after: stalled) {
      if case .disconnected = $0 { true } else { false }
    }
    measured("\(kind): engine stalled", milliseconds(stalled, told))
    engine.program.signal(SIGCONT)
    try await eventually("all arrive") { two.numbers.withLockedValue { $0.count } >= 1_000 }
    #expect(two.numbers.withLockedValue { $0 } == Array(0..<1_000))
    await one.stop()
    await two.stop()
  }

  @Test func tellsWhatIsWrongWithAnAddress() async throws {
    for url in ["nonsense", "nats://", "http://127.0.0.1", "nats://host:port", "redis://h:1"] {
      #expect(throws: NATSCarrier.InvalidURL.self) { try NATSCarrier.Configuration(urls: url) }
    }
    for url in ["nonsense", "redis://", "rediss://", "nats://h:1", "redis://host:port"] {
      #expect(throws: RedisCarrier.InvalidURL.self) { try RedisCarrier.Configuration(url: url) }
    }
    // The sentence may be logged, and the password may not.
    let ours = #expect(throws: RedisCarrier.InvalidURL.self) {
      try RedisCarrier.Configuration(url: "redis://me:secr@et@host:port")
    }
    let theirs = #expect(throws: NATSCarrier.InvalidURL.self) {
      try NATSCarrier.Configuration(urls: "nats://me:secr@et@host:port")
    }
    for text in [ours?.description, theirs?.description] {
      #expect(text?.contains("://…@host:port is no") == true)
    }
    let redis = try RedisCarrier.Configuration(url: "redis://me:se:cret@host:7000/0")
    #expect(redis.user == "me" && redis.password == "se:cret")
    #expect(redis.host == "host" && redis.port == 7_000 && !redis.isEncrypted)
    let encoded = try RedisCarrier.Configuration(url: "redis://m%3Ae:s%40%2Fcret@host")
    #expect(encoded.user == "m:e" && encoded.password == "s@/cret" && encoded.host == "host")
    let secure = try RedisCarrier.Configuration(url: "rediss://host")
    #expect(secure.host == "host" && secure.port == 6_379 && secure.isEncrypted)

    // Nobody is there; a password is missing; the server wants TLS.
    let gone = try await Engine(.nats)
    try await gone.program.kill9()
    let secret = try await Engine(.nats, configuration: "authorization { user: me, password: s }")
    let authority = try Authority()
    let encrypted = try await Engine(.nats, configuration: authority.configuration)
    for (engine, words) in [
      (gone, ["no server"]), (secret, ["auth"]), (encrypted, ["ssl", "tls"]),
    ] {
      let site = Site(try carrier(engine), "one")
      try await eventually("\(words) is told") {
        site.reasons.contains { reason in words.contains { reason.lowercased().contains($0) } }
      }
      print("MEASURED what is told:", site.reasons.last ?? "")
      await site.stop()
    }

    // With the right authority it connects, and with none it says why not.
    let port = encrypted.port
    var configuration = try NATSCarrier.Configuration(urls: "tls://localhost:\(port)")
    let without = Site(NATSCarrier(configuration), "without")
    try await eventually("the certificate is refused") {
      without.reasons.contains { $0.lowercased().contains("certificate") }
    }
    await without.stop()
    configuration.certificateAuthority = authority.program.path("ca.pem")
    let with = Site(NATSCarrier(configuration), "with")
    _ = try await with.reports { $0 == .connected }
    await with.stop()
    withExtendedLifetime((secret, encrypted)) {}
  }

  @Test func tellsThatAServerHasNoStore() async throws {
    let engine = try await Engine(.nats)
    let site = Site(JetStreamCarrier(try .init(urls: engine.url)), "one")
    _ = try await site.reports {
      if case .problem(let reason) = $0 { reason.contains("without JetStream") } else { false }
    }
    await site.stop()
    withExtendedLifetime(engine) {}
  }

  @Test func tellsThatAStoreDoesNotAnswer() async throws {
    let engine = try await Engine(.redis)
    let reader = RedisStreamCarrier(
      try .init(url: "redis://127.0.0.1:\(engine.port)", name: "test"))
    _ = try await reader.stored("subject", after: nil)
    engine.program.signal(SIGSTOP)
    let error = await #expect(throws: (any Error).self) {
      try await reader.stored("subject", after: nil)
    }
    #expect(error.map { "\($0)" }?.contains("has not answered for 5 s") == true)
    engine.program.signal(SIGCONT)
    try await eventually("it answers again") {
      (try? await reader.stored("subject", after: nil)) != nil
    }
    await reader.close()
  }

  @Test func tellsWhatIsWrongWithAnEncryptedConnection() async throws {
    let (authority, stranger) = (try Authority(), try Authority())
    let engine = try await Engine(.redis, configuration: authority.redisConfiguration)
    func configuration(_ scheme: String, _ authority: Authority?) throws
      -> RedisCarrier.Configuration
    {
      var configuration = try RedisCarrier.Configuration(
        url: "\(scheme)://localhost:\(engine.port)", name: "test")
      configuration.certificateAuthority = authority?.program.path("ca.pem")
      return configuration
    }
    // With the right authority it connects, and carries.
    let right = try configuration("rediss", authority)
    let (one, two) = (Site(RedisCarrier(right), "one"), Site(RedisStreamCarrier(right), "two"))
    for (one, two) in [(one, two), (two, one)] {
      _ = try await one.reports { $0 == .joined(two.carriage.identity) }
    }
    one.post(1)
    try await eventually("it is carried") { two.numbers.withLockedValue { $0 } == [1] }
    let reader = RedisStreamCarrier(right)
    let page = try await reader.stored("subject", after: nil)
    #expect(page.payloads.isEmpty)
    await reader.close()
    await one.stop()
    await two.stop()

    // With another one, with that of the system, and with a file that is none, it says why not, and so it does
    // without encryption.
    var noFile = right
    noFile.certificateAuthority = authority.program.path("none.pem")
    for (configuration, words) in [
      (try configuration("rediss", stranger), ["certificate_verify_failed"]),
      (try configuration("rediss", nil), ["certificate_verify_failed"]),
      (noFile, ["none.pem"]), (try configuration("redis", nil), ["tls"]),
    ] {
      let start = ContinuousClock.now
      let site = Site(RedisCarrier(configuration), "one")
      let told = try await site.reports {
        guard case .disconnected(let reason) = $0 else { return false }
        return words.contains { reason.lowercased().contains($0) }
      }
      measured("redis: \(words[0]) is told after", milliseconds(start, told))
      print("MEASURED what is told:", site.reasons.last ?? "")
      await site.stop()
    }
    // And the other way round.
    let plain = try await Engine(.redis)
    var mistaken = right
    mistaken.port = plain.port
    let site = Site(RedisCarrier(mistaken), "one")
    try await eventually("it is told") {
      site.reasons.contains { $0.lowercased().contains("ssl") || $0.lowercased().contains("tls") }
    }
    print("MEASURED what is told:", site.reasons.last ?? "")
    await site.stop()
    withExtendedLifetime((engine, plain)) {}
  }

  /// Certificates for this machine, made with `openssl`.
  private struct Authority {
    let program: Program

    init() throws {
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
            -CAcreateserial -days 2 -extfile FOLDER/names -out FOLDER/cert.pem && echo done
          """,
        ])
      while program.isRunning { usleep(10_000) }
      try #require(program.text("out").contains("done"), "\(program.text("err"))")
    }

    var redisConfiguration: String {
      """
      port 0
      tls-port PORT
      tls-auth-clients no
      tls-cert-file \(program.path("cert.pem"))
      tls-key-file \(program.path("key.pem"))
      tls-ca-cert-file \(program.path("ca.pem"))
      """
    }

    var configuration: String {
      """
      tls { cert_file: "\(program.path("cert.pem"))", key_file: "\(program.path("key.pem"))" }
      """
    }
  }
}
