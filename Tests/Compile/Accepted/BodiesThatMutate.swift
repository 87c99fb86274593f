import Multicast

// A body runs before notify returns, where notify was called, so it may change what it captures.

protocol UserProtocol {
  func name() -> String
}

struct Report {
  var names: [String] = []
  var count = 0

  mutating func run(center: MulticastCenter) {
    center.notify(UserProtocol.self) { names.append($0.name()) }
    center.notify(UserProtocol.self, forEach: [1, 2]) { _, number in count += number }
    names += center.map(UserProtocol.self) { client in
      count += 1
      return client.name()
    }
  }
}

final class Roll {
  var count = 0
  var last: String?

  func call(center: MulticastCenter) {
    center.notify(UserProtocol.self) { client in
      count += 1
      last = client.name()
    }
    center.notify(UserProtocol.self) { [weak self] client in self?.last = client.name() }
  }
}

struct Ticket: ~Copyable {
  var uses = 0
  mutating func use() { uses += 1 }
  consuming func tear() {}
}

func locals(delegates: MulticastDelegate<any UserProtocol>, total: inout Int, roll: Roll) {
  var last = ""
  var ticket = Ticket()
  delegates.notify {
    total += 1
    roll.count += 1
    last = $0.name()
    ticket.use()
  }
  ticket.tear()
  let called: Int
  called = delegates.notify { last += $0.name() }
  print(last, called)
}
