import Multicast

// Notifies in observers, accessors and defers, where changes of a model are announced.

nonisolated protocol ModelProtocol {
  func changed(_ number: Int)
  func number() -> Int
}

nonisolated final class Model {
  let delegates = MulticastDelegate<any ModelProtocol>()
  let center = MulticastCenter()

  var number = 0 {
    willSet { delegates.notify { $0.changed(newValue) } }
    didSet { center.notify(ModelProtocol.self) { $0.changed(number - oldValue) } }
  }

  var total: Int { delegates.map { $0.number() }.reduce(0, +) }
  lazy var numbers = center.map(ModelProtocol.self) { $0.number() }

  subscript(index: Int) -> Int {
    get { delegates.map { $0.number() }[index] }
    set { delegates.notify { $0.changed(newValue) } }
  }

  func increase() {
    defer { delegates.notify { $0.changed(number) } }
    number += 1
  }
}
