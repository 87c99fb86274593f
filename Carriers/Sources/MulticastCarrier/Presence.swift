import Foundation
import Multicast
import ServiceLifecycle

/// Reports which processes of a team are running. Each one stores a key with an expiry in the engine.
///
/// ```swift
/// let presence = Presence(center: center, registry: carrier, name: "north")
/// center.observe(.presence, owner: self) { me, report in … }
/// let group = ServiceGroup(services: [carriage, presence], …)  // the last one ends first
/// ```
///
/// A process that ends is reported to have left within a third of the expiry. One that is killed is reported when its
/// key has expired. While the engine cannot be reached, no process is reported to join or leave. After that, and after
/// the engine has lost the keys, no process is reported to have left for one expiry, in which each process stores its
/// key again.
public final class Presence: Service {
  /// A process.
  public struct Member: Codable, Sendable, Hashable {
    /// The identity of the process, which is new after each start.
    public let id: String
    /// The name of the process.
    public let name: String
    /// What the process publishes about itself.
    public let details: [String: String]
  }

  /// The largest size of a value: a process and its details, in JSON.
  private static let valueLimit = 64 << 10

  /// This process.
  public let own: Member
  private let center: MulticastCenter
  private let registry: any Registry
  private let prefix: String
  private let expiry: Duration
  private let state = Locked<(company: Company, problem: String?)>(
    (Company(), "It does not run yet."))

  /// Creates the presence of this process, which begins when `run()` is called.
  ///
  /// - Parameters:
  ///   - center: The center that receives the reports.
  ///   - registry: The carrier of the carriage, or another one.
  ///   - name: The name of this process.
  ///   - details: What this process publishes about itself, such as an address: less than 64 KiB in JSON.
  ///   - prefix: The same in all processes of a team.
  ///   - expiry: How long a process may be silent. It stores its key three times in that time. NATS keeps the expiry of
  ///     the first process.
  public init(
    center: MulticastCenter, registry: any Registry, name: String, details: [String: String] = [:],
    prefix: String = "multicast", expiry: Duration = .seconds(6)
  ) {
    Log.checkPrefix(prefix)
    let id = String(UInt64.random(in: 0 ... .max), radix: 36)
    own = Member(id: id, name: name, details: details)
    (self.center, self.registry, self.prefix, self.expiry) = (center, registry, prefix, expiry)
  }

  /// The processes that are running. They include this one after the engine has stored its key.
  public var members: [Member] {
    state.withLock { $0.company.members.values.sorted { $0.id < $1.id } }
  }

  /// Why no process is reported to join or leave at the moment; nil if there is no problem.
  public var problem: String? { state.withLock { $0.problem } }

  /// Keeps this process present until the task is cancelled or the service group shuts down.
  public func run() async {
    let beats = Task {
      while !Task.isCancelled {
        let next = ContinuousClock.now + expiry / 3
        await speak()
        try? await Task.sleep(until: next, clock: .continuous)
      }
    }
    try? await gracefulShutdown()
    beats.cancel()
    // If the engine does not answer in time, the key expires.
    await atMost(expiry) { [self] in
      await beats.value
      // It has lasted too long, and the process may be present again.
      if Task.isCancelled { return }
      _ = try? await registry.register(nil, as: own.id, in: prefix, expiry: expiry)
    }
    state.withLock { $0 = (Company(), "It does not run any more.") }
  }

  private func speak() async {
    do {
      let value = try Array(JSONEncoder().encode(own))
      guard value.count <= Presence.valueLimit else {
        throw CarrierError.tooLarge(bytes: value.count, limit: Presence.valueLimit)
      }
      let (values, wasKept) = try await registry.register(
        value, as: own.id, in: prefix, expiry: expiry)
      // Any client may store a value, and to decode a large one may take minutes.
      let members = values.filter { $0.value.count <= Presence.valueLimit }.compactMapValues {
        try? JSONDecoder().decode(Member.self, from: Data($0))
      }
      // The answer may come after `run()` has returned.
      if Task.isCancelled { return }
      let (joined, left) = state.withLock { state in
        // Without the own key, or after an outage, the keys of others may be missing, too.
        let isWhole = state.problem.take() == nil && wasKept
        return state.company.take(members, isWhole: isWhole, at: .now, expiry: expiry)
      }
      for member in left { center.post(.presence, .left(member)) }
      for member in joined { center.post(.presence, .joined(member, isOwn: member.id == own.id)) }
    } catch {
      if !Task.isCancelled { state.withLock { $0.problem = String("\(error)".prefix(300)) } }
    }
  }
}

/// The processes that are running, according to the engine. A value without an engine, a lock or a clock.
struct Company {
  private(set) var members: [String: Presence.Member] = [:]
  /// Until this time, a process whose key is missing may be about to store it again.
  private var grace: ContinuousClock.Instant?

  /// Takes the members whose keys the engine has stored, and returns the ones that have joined and left.
  ///
  /// - Parameter isWhole: Whether no key was lost, and the engine was reached each time since the last call.
  mutating func take(
    _ present: [String: Presence.Member], isWhole: Bool, at now: ContinuousClock.Instant,
    expiry: Duration
  ) -> (joined: [Presence.Member], left: [Presence.Member]) {
    if !isWhole, !members.isEmpty { grace = now + expiry }
    let isGrace = grace.map { now < $0 } ?? false
    let joined = present.filter { members[$0.key] == nil }
    let missing = isGrace ? [:] : members.filter { present[$0.key] == nil }
    members = members.filter { missing[$0.key] == nil }.merging(present) { _, new in new }
    return (Array(joined.values), Array(missing.values))
  }
}

/// What a `Presence` reports in its own process. Later versions may add cases.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum PresenceReport: Sendable, Hashable {
  /// A process has joined. Each process reports itself, too.
  case joined(Presence.Member, isOwn: Bool)
  /// A process has ended, or its key has expired.
  case left(Presence.Member)
}

extension Topic where Message == PresenceReport {
  /// The reports about processes that join and leave.
  public static var presence: Self { Topic("MulticastCarrier.presence") }
}
