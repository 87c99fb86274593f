import Logging
import Multicast
import MulticastCarrierTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import MulticastCarrier

struct Note: Codable, Sendable, Equatable {
  var number: Int
  var text = ""
  var value = 0.0
}

extension Topic where Message == Note {
  static var note: Self { Topic("note") }
  static var other: Self { Topic("other") }
  static var latest: Self { Topic("latest", keepsLatest: true) }
}

/// One process of several: a center with its carriage, and all that it has heard.
final class Site: Sendable {
  let center = MulticastCenter(carrying: .carriage)
  let carrier: InMemoryCarrier
  let carriage: Carriage
  let log = Records()
  private let heard = NIOLockedValueBox<[String: [Int]]>([:])
  private let reported = NIOLockedValueBox<[CarriageReport]>([])
  private let task = NIOLockedValueBox<Task<Void, Never>?>(nil)

  /// - Parameter topics: Carries more, or others than `note`, `other` and `latest`.
  init(
    _ hub: InMemoryCarrier.Hub, _ name: String, limits: Carriage.Limits = .patient,
    payloadLimit: Int = 1 << 20, echoes: Bool = false,
    topics: (Carriage) -> Void = { carriage in
      carriage.carry(.note, as: "note", version: 2)
      carriage.carry(.other, as: "other")
      carriage.carry(.latest, as: "latest")
    }
  ) {
    carrier = InMemoryCarrier(hub: hub, payloadLimit: payloadLimit, echoes: echoes)
    carriage = Carriage(
      center: center, carrier: carrier, name: name, limits: limits,
      logger: Logger(label: "test") { [log] _ in log })
    for (name, topic) in [("note", Topic.note), ("other", .other), ("latest", .latest)] {
      center.observe(topic, owner: self, id: "heard") { site, note in
        site.heard.withLockedValue { $0[name, default: []].append(note.number) }
      }
    }
    center.observe(.carriage, owner: self) { site, report in
      site.reported.withLockedValue { $0.append(report) }
    }
    topics(carriage)
  }

  /// Returns when the site is connected, and knows the others.
  func start(_ others: Site...) async throws {
    task.withLockedValue { $0 = Task { [carriage] in await carriage.run() } }
    try await reports { $0 == .connected }
    for other in others { try await knows(other) }
  }

  /// Returns when both know each other.
  func knows(_ other: Site) async throws {
    for (one, two) in [(self, other), (other, self)] {
      try await one.reports { $0 == .joined(two.carriage.identity) }
    }
  }

  func stop() async {
    let task = task.withLockedValue { $0 }
    task?.cancel()
    await task?.value
  }

  /// Ends without a word, as by a signal.
  func vanish() { carrier.disconnect() }

  func post(_ numbers: Int...) { for number in numbers { post(Note(number: number)) } }
  func post(_ note: Note) { center.post(.note, note) }

  func numbers(_ topic: String = "note") -> [Int] { heard.withLockedValue { $0[topic] ?? [] } }
  var reports: [CarriageReport] { reported.withLockedValue { $0 } }

  func hears(_ numbers: [Int], on topic: String = "note") async throws {
    try await eventually("\(carriage.identity) hears \(numbers) on \(topic)") {
      self.numbers(topic).count >= numbers.count
    }
    #expect(self.numbers(topic) == numbers)
  }

  @discardableResult
  func reports(_ matches: (CarriageReport) -> Bool) async throws -> CarriageReport {
    var report: CarriageReport?
    try await eventually("\(carriage.identity) reports it") {
      report = self.reports.first(where: matches)
      return report != nil
    }
    return try #require(report)
  }

  func skips(_ start: String) async throws {
    try await reports {
      if case .skipped(let reason, _) = $0 { reason.hasPrefix(start) } else { false }
    }
  }

  /// Returns when it has told a gap, and checks that it was this one alone.
  func tells(_ gap: CarriageReport) async throws {
    func isGap(_ report: CarriageReport) -> Bool {
      if case .gapPossible = report { true } else { false }
    }
    try await reports(isGap)
    #expect(reports.filter(isGap) == [gap])
  }

  /// Returns when its carriage has published so many messages. What was posted is heard here before.
  func publishes(_ count: Int) async throws {
    let counts = { self.carriage.state.withLockedValue { $0.exchange.counts.published } }
    try await eventually("\(carriage.identity) publishes \(count)") {
      counts() >= count && self.carriage.condition.waitingMessages == 0
    }
    #expect(counts() == count)
  }

  /// How many messages it knows to be missing for good, of which it may not have told yet.
  var missing: UInt64 { carriage.condition.missing }
}

/// Runs a body with sites that know each other, and ends them.
func withSites(_ sites: Site..., body: () async throws -> Void) async throws {
  do {
    for site in sites { try await site.start() }
    for one in sites { for two in sites where one !== two { try await one.knows(two) } }
    try await body()
  } catch {
    for site in sites { await site.stop() }
    throw error
  }
  for site in sites { await site.stop() }
}

/// What was logged.
final class Records: LogHandler {
  let lines = NIOLockedValueBox<[(level: Logger.Level, text: String)]>([])
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }
  func log(event: LogEvent) {
    lines.withLockedValue { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
  }
}
