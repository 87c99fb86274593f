import Multicast

// Four classes that differ in nothing that takes time, and enough for calls to stay what they are.

final class Screen: Client {
  private let tally = Tally()

  var calls: Int { tally.count }

  func event(_ number: Int) { tally.add(number) }

  func otherEvent(_ number: Int) { tally.add(number) }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    center.observe(topic, owner: self) { owner, number in owner.event(number) }
  }
}

final class Badge: Client {
  private let tally = Tally()

  var calls: Int { tally.count }

  func event(_ number: Int) { tally.add(number &+ 1) }

  func otherEvent(_ number: Int) { tally.add(number &+ 1) }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    center.observe(topic, owner: self) { owner, number in owner.event(number) }
  }
}

final class Log: Client {
  private let tally = Tally()

  var calls: Int { tally.count }

  func event(_ number: Int) { tally.add(number &+ 2) }

  func otherEvent(_ number: Int) { tally.add(number &+ 2) }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    center.observe(topic, owner: self) { owner, number in owner.event(number) }
  }
}

final class Cache: Client {
  private let tally = Tally()

  var calls: Int { tally.count }

  func event(_ number: Int) { tally.add(number &+ 3) }

  func otherEvent(_ number: Int) { tally.add(number &+ 3) }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    center.observe(topic, owner: self) { owner, number in owner.event(number) }
  }
}
