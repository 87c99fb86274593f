import CoreModel
import TestSupport
import Testing

@testable import Multicast

/// A list with homes, used by many threads at once. What these tests find, they find best under the
/// thread sanitizer.
@Suite struct ClientListThreadTests {
  private let rounds = Process.rounds(10_000, quick: 1500)

  @Test func everythingAtOnceInHomes() {
    let list = ClientList()
    let subjects = (0..<5).map { _ in Subject() }
    // Enough that the list is copied in steps.
    let lasting = kept((0..<600).map { Numbered($0) })
    for client in lasting { list.add(client, at: subjects[client.name % 5]) }
    let expected = lasting.map(\.name)
    onThreads(6) { thread in
      var generator = SeededGenerator(seed: UInt64(thread) + 100)
      var own: [Numbered] = []
      for _ in 0..<rounds {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1, 2:
          for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let client = Numbered(-1)
            defer { extendLifetime(client) }
            #expect(list.add(client, at: subjects.randomElement(using: &generator)))
            own.append(client)
          }
        case 3, 4:
          if let client = own.popLast() { #expect(list.remove(client)) }
        case 5, 6:
          own.removeFirst(own.count / 2)
        case 7:
          #expect(list.names().filter { $0 >= 0 } == expected)
        default:
          for residents in list.homes {
            let remainder = subjects.firstIndex { $0 === residents.mailbox }
            let names = list.names(of: residents).filter { $0 >= 0 }
            #expect(names == expected.filter { $0 % 5 == remainder })
          }
        }
        if own.count > 300 { own.removeFirst(250) }
      }
    }
    #expect(list.names() == expected)
    #expect(list.homes.reduce(0) { $0 + $1.count } == expected.count)
  }

  @Test func companionsAreReplacedAndRemovedWhileOthersWalk() {
    let list = ClientList(companions: true)
    let alive = Atomic<Int>(0)
    let subjects = (0..<3).map { _ in Subject() }
    let owners = kept((0..<400).map { Numbered($0) })
    @Sendable func note(_ text: String) -> Note {
      alive.wrappingAdd(1, ordering: .relaxed)
      return Note(text) { alive.wrappingSubtract(1, ordering: .relaxed) }
    }
    @Sendable func place(_ owner: Numbered, at home: Subject?) {
      let new = note("x")
      while true {
        let known = list.companions(of: owner)
        let old = known.first as? Note
        let placement = list.place(new, of: owner, at: home, expecting: known, replacing: old)
        if case .added = placement { return }
      }
    }
    onThreads(5) { thread in
      var generator = SeededGenerator(seed: UInt64(thread) + 200)
      for _ in 0..<(rounds / 5) {
        guard let owner = owners.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1, 2: place(owner, at: subjects.randomElement(using: &generator))
        case 3: _ = list.removeAll(of: owner) { _ in true }
        case 4: _ = list.texts()
        default: for residents in list.homes { _ = list.texts(of: residents) }
        }
      }
    }
    let registered = list.names().count
    // Those of whom nothing is left in the list have ended, but for what waits for another walk.
    #expect(alive.load(ordering: .relaxed) >= registered)
    #expect(list.homes.reduce(0) { $0 + list.names(of: $1).count } == registered)
    list.removeAll()
    _ = list.names()
    #expect(alive.load(ordering: .relaxed) == 0)
  }
}
