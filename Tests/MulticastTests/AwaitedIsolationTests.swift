import TestSupport
import Multicast
import Testing

private protocol PhaseProtocol: AnyObject {
  nonisolated(nonsending) func phaseDidEnd() async
}

/// A client that belongs to an actor, and suspends in its call.
private final class Phase: PhaseProtocol {
  weak var home: (any Actor)?

  /// Whether it ran in its actor, before and after each suspension.
  private(set) var ranAtHome: [Bool] = []

  nonisolated(nonsending) func phaseDidEnd() async {
    ranAtHome.append(isAtHome())
    for _ in 0..<3 {
      await Task.yield()
      ranAtHome.append(isAtHome())
    }
  }

  private func isAtHome(_ isolation: (any Actor)? = #isolation) -> Bool { isolation === home }
}

/// What is awaited runs in the caller's actor, however often it is suspended.
@Suite struct AwaitedIsolationTests {
  let center = MulticastCenter()

  private actor Home {
    let center = MulticastCenter()
    let delegate = MulticastDelegate<any PhaseProtocol>()
    let phases = [Phase(), Phase()]

    /// The number of clients called, and whether everything ran in here.
    func notify() async -> (Int, Bool) {
      for phase in phases {
        phase.home = self
        center.add(phase, for: PhaseProtocol.self)
      }
      let called = await center.notify(
        PhaseProtocol.self, awaiting: { await $0.phaseDidEnd() })
      return (called, ranHere)
    }

    func notifyDelegate() async -> (Int, Bool) {
      for phase in phases {
        phase.home = self
        delegate.add(phase)
      }
      let called = await delegate.notify(awaiting: { await $0.phaseDidEnd() })
      return (called, ranHere)
    }

    private var ranHere: Bool {
      phases.allSatisfy { $0.ranAtHome == [true, true, true, true] }
    }
  }

  @Test func clientsThatSuspendAreAllCalledInTheCallersActor() async {
    #expect(await Home().notify() == (2, true))
    #expect(await Home().notifyDelegate() == (2, true))
  }

  @Test @MainActor func handlersOfTheMainActorRunThereWhenAPostInItWaits() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.preconditionIsolated()
      screen.shown.append(login.id)
    }
    for round in 0..<50 {
      // These wait, since the main actor is busy here.
      onNewThread { for id in 0..<9 { center.post(.login, Login(id: 10 * round + id)) } }
      await center.postAndWait(.login, Login(id: 10 * round + 9))
    }
    #expect(screen.shown == Array(0..<500))
  }
}
