import Multicast

// In an actor a body belongs to the actor, and its clients may be anything of the actor's.

nonisolated protocol UserProtocol {
  func login(_ count: Int)
  func name() -> String
}

nonisolated final class Client: UserProtocol {
  func login(_ count: Int) {}
  func name() -> String { "" }
}

nonisolated final class Draft {
  var lines: [String] = []
}

actor Session {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any UserProtocol>()
  let client = Client()
  var draft = Draft()
  var count = 0

  func addClients() {
    center.add(client, for: UserProtocol.self)
    center[UserProtocol.self].add(client)
    delegates.add(client)
    center.remove(client)
  }

  func notify() {
    center.notify(UserProtocol.self) { $0.login(count) }
    center.notify(UserProtocol.self) { client in
      client.login(count)
      count += 1
      self.increase()
    }
    center.notify(UserProtocol.self, forEach: [1, 2]) { client, event in
      client.login(event)
      count += event
    }
    delegates.notify { draft.lines.append($0.name()) }
    let drafts = delegates.map { _ in draft }
    draft = drafts[0]
  }

  func notifyLater() async {
    await Task.yield()
    center.notify(UserProtocol.self) { client in
      client.login(count)
      count += 1
    }
    delegates.notify { draft.lines.append($0.name()) }
    print(center.map(UserProtocol.self) { "\($0.name()) \(count)" })
  }

  func notifyInTask() {
    Task {
      center.notify(UserProtocol.self) { client in
        client.login(count)
        increase()
      }
    }
  }

  func increase() { count += 1 }

  nonisolated func notifyFromOutside() {
    center.notify(UserProtocol.self) { $0.login(0) }
    delegates.notify { $0.login(0) }
  }
}
