import Multicast

// Code without an actor of its own, synchronous and asynchronous.

nonisolated protocol UserProtocol {
  func login(_ userID: UInt)
  func name() -> String
}

nonisolated struct Directory {
  let center: MulticastCenter
  let delegates: MulticastDelegate<any UserProtocol>

  func notify() {
    center.notify(UserProtocol.self) { $0.login(1) }
    center.notify(UserProtocol.self, forEach: [1, 2]) { $0.login($1) }
    print(center.map(UserProtocol.self) { $0.name() })
    delegates.notify { $0.login(1) }
    delegates.notify(forEach: [1, 2]) { $0.login($1) }
    print(delegates.map { $0.name() })
  }

  func notifyLater() async {
    center.notify(UserProtocol.self) { $0.login(1) }
    await Task.yield()
    center.notify(UserProtocol.self, forEach: [1, 2]) { $0.login($1) }
    print(center.map(UserProtocol.self) { $0.name() })
    delegates.notify { $0.login(1) }
    var called = 0
    await center.notify(
      UserProtocol.self,
      awaiting: {
        $0.login(1)
        called += 1
        await Task.yield()
      })
    print(called)
  }

  nonisolated(nonsending) func notifyHere() async {
    center.notify(UserProtocol.self) { $0.login(1) }
    await delegates.notify {
      $0.login(1)
      await Task.yield()
    }
  }

  @concurrent func notifyElsewhere() async {
    center.notify(UserProtocol.self) { $0.login(1) }
    await delegates.notify {
      $0.login(1)
      await Task.yield()
    }
  }
}

func inTheActorOfTheCaller(
  center: MulticastCenter, isolation: isolated (any Actor)? = #isolation
) async {
  var called = 0
  center.notify(UserProtocol.self) { _ in called += 1 }
  await center.notify(UserProtocol.self) {
    $0.login(1)
    called += 1
    await Task.yield()
  }
  print(called)
}
