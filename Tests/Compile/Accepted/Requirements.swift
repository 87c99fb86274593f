import Multicast

// What else a protocol may require does not matter: static members, initialisers, `Self`.

protocol Plugin {
  static var version: Int { get }
  init()
  func start()
}

protocol Ranked: Comparable, AnyObject {
  var rank: Int { get }
}

private protocol Hidden {
  func reveal()
}

enum Space {
  protocol Nested {
    func visit()
  }
}

final class Spelling: Plugin, Hidden, Space.Nested {
  static var version: Int { 1 }
  func start() {}
  func reveal() {}
  func visit() {}
}

func requirements(center: MulticastCenter, spelling: Spelling) {
  center.add(spelling, for: Plugin.self)
  center.add(spelling, for: Hidden.self)
  center.add(spelling, for: Space.Nested.self)
  center.notify(Plugin.self) { $0.start() }
  center.notify(Hidden.self) { $0.reveal() }
  center.notify(Space.Nested.self) { $0.visit() }
  print(center.map(Plugin.self) { type(of: $0).version })
  print(center.map((any Ranked).self) { $0.rank })
}
