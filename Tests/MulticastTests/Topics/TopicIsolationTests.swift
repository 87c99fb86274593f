import Multicast
import TestSupport
import Testing

/// A handler runs in the isolation that it was written in. ``HomeTests`` has what holds in every home.
@Suite struct TopicIsolationTests {
  let center = MulticastCenter()

  /// Knows nothing of any actor.
  func postFromAHelper(_ id: Int) -> Int { center.post(.login, Login(id: id)).clients }

  @Test @MainActor func aPostFromTheMainActorCallsItsHandlerWithinTheTurn() {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    #expect(center.post(.login, Login(id: 1)).clients == 1)
    #expect(screen.shown == [1])
    #expect(postFromAHelper(2) == 1)
    #expect(screen.shown == [1, 2])
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
      await center.post(.login, Login(id: 10 * round + 9)).delivered()
    }
    #expect(screen.shown == Array(0..<500))
  }

  @Test @MainActor func onceIsOnceForAHandlerElsewhere() async {
    let screen = Screen()
    center.observe(.login, owner: screen, once: true) { screen, login in
      screen.shown.append(login.id)
    }
    let taken = Atomic<Int>(0)
    onNewThread {
      onThreads(4) { id in
        taken.wrappingAdd(center.post(.login, Login(id: id)).clients, ordering: .relaxed)
      }
    }
    // Who gets which message is decided when the letters are handled.
    #expect(taken.load(ordering: .relaxed) == 4)
    await center.settled()
    #expect(screen.shown.count == 1)
    #expect(center.post(.login, Login(id: 5)).clients == 0)
  }

  @Test func aHandlerThatUsesItsActorRunsInIt() async {
    actor Store {
      var ids: [Int] = []
      let center: MulticastCenter
      init(_ center: MulticastCenter) { self.center = center }
      func observe() {
        center.observe(.login, owner: self) { _, login in self.ids.append(login.id) }
      }
      func postHere() -> [Int] {
        center.post(.login, Login(id: 1))
        return ids
      }
    }
    let store = Store(center)
    await store.observe()
    // In the actor itself, within the turn.
    #expect(await store.postHere() == [1])
    #expect(await center.post(.login, Login(id: 2)).delivered() == 1)
    #expect(await store.ids == [1, 2])
    // It captures its actor: an owner that it captures lives until it is cancelled.
    center.removeObservers(of: .login)
  }

  @Test @MainActor func anAsynchronousHandlerRunsInTheActorItWasWrittenIn() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      await Task.yield()
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    await center.post(.login, Login(id: 1)).delivered()
    #expect(screen.shown == [1])
  }
}
