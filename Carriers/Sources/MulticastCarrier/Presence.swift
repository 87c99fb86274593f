import Foundation
import Multicast
import ServiceLifecycle

/// Who is here: the processes of a team, as keys with an expiry in the engine.
///
/// ```swift
/// let presence = Presence(center: center, registry: carrier, name: "north")
/// center.observe(.presence, owner: self) { me, report in … }
/// let group = ServiceGroup(services: [carriage, presence], …)  // the last one ends first
/// ```
///
/// A process that ends is told to have left within a third of the expiry, one that is killed when its key has expired. While
/// the engine cannot be reached, nobody is told to come or go.
public final class Presence: Service {
  /// A process.
  public struct Member: Codable, Sendable, Hashable {
    /// Another one after each start.
    public let id: String
    /// What it is called.
    public let name: String
    /// What it tells of itself.
    public let details: [String: String]
  }

  /// This process.
  public let own: Member
  private let center: MulticastCenter
  private let registry: any Registry
  private let prefix: String
  private let expiry: Duration
  private let state = Locked<(members: [String: Member], problem: String?)>(
    ([:], "It does not run yet."))

  /// Creates the presence of this process, which begins when it runs.
  ///
  /// - Parameters:
  ///   - center: Where it is told who comes and goes.
  ///   - registry: The carrier of the carriage, or another one.
  ///   - name: What this process is called.
  ///   - details: What it tells of itself, such as an address.
  ///   - prefix: The same in all processes of a team.
  ///   - expiry: How long a process may be silent. It speaks three times as often. NATS keeps the expiry of who was first.
  public init(
    center: MulticastCenter, registry: any Registry, name: String, details: [String: String] = [:],
    prefix: String = "multicast", expiry: Duration = .seconds(6)
  ) {
    precondition(Log.isPrefix(prefix), "\(prefix) is no prefix of letters, digits, - and _.")
    let id = String(UInt64.random(in: 0 ... .max), radix: 36)
    own = Member(id: id, name: name, details: details)
    (self.center, self.registry, self.prefix, self.expiry) = (center, registry, prefix, expiry)
  }

  /// Those who are here, this process included once the engine knows it.
  public var members: [Member] { state.withLock { $0.members.values.sorted { $0.id < $1.id } } }

  /// Why nobody is told to come or go at the moment; nil if all is well.
  public var problem: String? { state.withLock { $0.problem } }

  /// Is here until the task is cancelled or the service group shuts down.
  public func run() async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        await self.speak()
        try? await Task.sleep(for: self.expiry / 3)
      }
    }
    // In a task that is not cancelled. If it fails, the key expires.
    await Task {
      _ = try? await registry.register(nil, as: own.id, in: prefix, expiry: expiry)
    }.value
  }

  private func speak() async {
    do {
      let value = try Array(JSONEncoder().encode(own))
      let values = try await registry.register(value, as: own.id, in: prefix, expiry: expiry)
      let members = values.compactMapValues {
        try? JSONDecoder().decode(Member.self, from: Data($0))
      }
      let old = state.withLock { state in
        defer { state = (members, nil) }
        return state.members
      }
      for (id, member) in old where members[id] == nil { center.post(.presence, .left(member)) }
      for (id, member) in members where old[id] == nil { center.post(.presence, .joined(member)) }
    } catch {
      state.withLock { $0.problem = String("\(error)".prefix(300)) }
    }
  }
}

/// What a `Presence` tells its own process.
public enum PresenceReport: Sendable, Hashable {
  /// A process is here: this one, too.
  case joined(Presence.Member)
  /// A process has ended, or has not been heard of for a while.
  case left(Presence.Member)
}

extension Topic where Message == PresenceReport {
  /// Who comes and goes.
  public static var presence: Self { Topic("MulticastCarrier.presence") }
}
