import Dispatch
import Multicast
import TestSupport
import Testing

/// Returns the comments of the issues that a body records. The issues do not fail the test.
func issues(in body: @Sendable () async throws -> Void) async throws -> [String] {
  let comments = Journal()
  let trait: IssueHandlingTrait = .compactMapIssues { issue in
    comments.write(issue.comments.map(\.rawValue).joined(separator: "\n"))
    return nil
  }
  try await trait.provideScope(
    for: try #require(Test.current), testCase: Test.Case.current, performing: body)
  return comments.all
}

/// A home of a handler in these tests.
enum HomeKind: CaseIterable, Sendable {
  case queue, mainActor, actor, task

  var name: String { "\(self)" }
}

actor Resident {
  func observe<Message>(
    _ center: MulticastCenter, _ topic: Topic<Message>,
    _ handle: @escaping @Sendable (Message) -> Void
  ) {
    center.observe(topic, owner: self) { (_: isolated Resident, message) in handle(message) }
  }
}

/// Owns the owners of one run's handlers.
final class Household: Sendable {
  let center: MulticastCenter
  private let owners = Collected<any AnyObject & Sendable>()
  private let shared = Locked<[HomeKind: (Resident, DispatchQueue)]>([:])

  init(_ center: MulticastCenter) {
    self.center = center
  }

  /// Observes a topic in a home of a kind. The home is new, or with `isShared` the one that all handlers of this kind share.
  func observe<Message>(
    _ topic: Topic<Message>, in kind: HomeKind, isShared: Bool = false,
    _ handle: @escaping @Sendable (Message) -> Void
  ) async {
    let home = home(of: kind, isShared: isShared)
    owners.add(home.resident)
    switch kind {
    case .queue:
      center.observe(topic, owner: home.resident, on: home.queue) { _, message in handle(message) }
    case .mainActor:
      center.observe(topic, owner: home.resident, on: .main) { _, message in handle(message) }
    case .actor: await home.resident.observe(center, topic, handle)
    case .task:
      center.observe(topic, owner: home.resident) { @Sendable _, message in
        await Task.yield()
        handle(message)
      }
    }
  }

  private func home(of kind: HomeKind, isShared: Bool) -> (resident: Resident, queue: DispatchQueue)
  {
    let made = (Resident(), DispatchQueue(label: "home"))
    return shared.withLock { shared in
      guard isShared else { return made }
      let home = shared[kind] ?? made
      shared[kind] = home
      return home
    }
  }

  /// Returns when the center has settled. Retains the owners until then.
  func settle() async {
    await center.settled()
    extendLifetime(self)
  }
}

/// Events, some of which must precede others, and all orders that this allows.
struct PartialOrder {
  let events: [String]
  let precedences: [(String, String)]

  /// Every order, as a text.
  var orders: Set<String> {
    var found: Set<String> = []
    extend([], into: &found)
    return found
  }

  private func extend(_ done: [String], into found: inout Set<String>) {
    if done.count == events.count { found.insert(done.joined(separator: " ")) }
    for event in events where !done.contains(event) {
      let isNext = precedences.allSatisfy { $0.1 != event || done.contains($0.0) }
      if isNext { extend(done + [event], into: &found) }
    }
  }
}

struct Login: Hashable, Sendable {
  let id: Int
}

extension Topic where Message == Login {
  static var login: Self { Topic("login") }
}

protocol PingProtocol: Sendable {
  func ping(_ number: Int)
}

final class Pinged: PingProtocol {
  private let onPing: @Sendable (Int) -> Void

  init(_ onPing: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.onPing = onPing
  }

  func ping(_ number: Int) { onPing(number) }
}
