import Crypto
import Dispatch
import Logging
import Multicast
import MulticastCarrier

/// A message of the tests.
package struct Note: Codable, Sendable, Hashable {
  package var sender: String
  package var number: Int
  package var text: String

  package init(_ sender: String, _ number: Int, _ text: String = "") {
    (self.sender, self.number, self.text) = (sender, number, text)
  }
}

extension Topic where Message == Note {
  package static var note: Self { Topic("note") }
  package static var other: Self { Topic("other") }
  package static var last: Self { Topic("last", keepsLatest: true) }
}

/// One of several processes: a center with its carriage, and everything that it has received.
package final class Site: Sendable {
  /// What a site has received.
  package struct Seen: Sendable {
    /// By the topic's name.
    package private(set) var heard: [String: [Note]] = [:]
    private var numbers: [String: [String: [Int]]] = [:]
    package var reports: [CarriageReport] = []
    package var state: CarriageState?

    package func notes(of sender: String, in topic: String = "note") -> [Int] {
      numbers[topic]?[sender] ?? []
    }

    fileprivate mutating func hear(_ note: Note, _ topic: String) {
      heard[topic, default: []].append(note)
      numbers[topic, default: [:]][note.sender, default: []].append(note.number)
    }

    package var began: Int {
      reports.count { if case .began = $0 { true } else { false } }
    }
    /// The number of messages of the note topic that were reported as missing.
    package var missing: UInt64 {
      reports.reduce(0) { if case .gap("note", _, let count?) = $1 { $0 + count } else { $0 } }
    }
  }

  private struct State {
    var seen = Seen()
    var waiters: [(holds: @Sendable (Seen) -> Bool, done: CheckedContinuation<Seen, Never>)] = []
  }

  package let name: String
  package let center = MulticastCenter(carrying: .carriage)
  package let carriage: Carriage
  private let home = DispatchQueue(label: "site")
  private let state = Locked(State())
  private let task = Locked<Task<Void, Never>?>(nil)

  /// Carries three topics in JSON: two topics of events, and one that keeps its latest message.
  package convenience init(
    _ carrier: any Carrier, _ name: String, limits: Carriage.Limits = .init(),
    prefix: String = "multicast", keys: [SymmetricKey?] = [nil], from start: Carriage.Start = .end
  ) {
    self.init(carrier, name, limits: limits, prefix: prefix, keys: keys) { carriage in
      carriage.carry(.note, as: "note", from: start)
      carriage.carry(.other, as: "other")
      carriage.carry(.last, as: "last")
    }
  }

  package init(
    _ carrier: any Carrier, _ name: String, limits: Carriage.Limits = .init(),
    prefix: String = "multicast", keys: [SymmetricKey?] = [nil],
    carrying carry: (Carriage) -> Void
  ) {
    self.name = name
    carriage = Carriage(
      center: center, carrier: carrier, name: name, prefix: prefix, limits: limits,
      keys: keys, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    for topic in [Topic.note, .other, .last] {
      center.observe(topic, owner: self, on: home) { site, note in
        site.see { $0.hear(note, topic.name) }
      }
    }
    center.observe(.carriage, owner: self) { site, report in site.see { $0.reports.append(report) }
    }
    center.observe(.carriageState, owner: self) { site, state in site.see { $0.state = state } }
    carry(carriage)
  }

  private func see(_ change: (inout Seen) -> Void) {
    let (seen, done) = state.withLock { state in
      change(&state.seen)
      let done = state.waiters.filter { $0.holds(state.seen) }
      state.waiters.removeAll { $0.holds(state.seen) }
      return (state.seen, done)
    }
    for waiter in done { waiter.done.resume(returning: seen) }
  }

  /// Forgets everything that the site has received.
  package func forget() { state.withLock { $0.seen = Seen() } }

  /// What the site has received until now.
  package var seen: Seen { state.withLock { $0.seen } }

  /// Returns when the site has received what a condition requires.
  @discardableResult
  package func until(_ holds: @escaping @Sendable (Seen) -> Bool) async -> Seen {
    await withCheckedContinuation { done in
      let seen: Seen? = state.withLock { state in
        if holds(state.seen) { return state.seen }
        state.waiters.append((holds, done))
        return nil
      }
      if let seen { done.resume(returning: seen) }
    }
  }

  /// Runs, and returns when the site reads this number of topics.
  package func start(topics: Int = 3) async {
    run()
    await until { $0.began >= topics }
  }

  package func run() {
    task.withLock { $0 = Task { [carriage] in await carriage.run() } }
  }

  /// Sends the waiting messages, and ends.
  package func stop() async {
    let task = task.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// Closes the carriage, and waits until it no longer runs.
  package func close() async {
    await carriage.close()
    await task.withLock { $0.take() }?.value
  }

  package func post(_ numbers: some Sequence<Int>, to topic: Topic<Note> = .note) {
    for number in numbers { center.post(topic, Note(name, number)) }
  }
}

/// Runs sites, and stops them after a body.
package func withSites(_ sites: Site..., body: () async throws -> Void) async throws {
  for site in sites { await site.start() }
  do { try await body() } catch {
    for site in sites { await site.stop() }
    throw error
  }
  for site in sites { await site.stop() }
}
