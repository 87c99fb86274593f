import CoreModel
import Synchronization
import TestSupport
import Testing

@testable import Multicast

/// A list with groups, used by many threads at once. What these tests find, they find best under the
/// thread sanitizer.
@Suite struct ClientListThreadTests {
  private let rounds = Process.rounds(10_000, quick: 1500)

  @Test func everythingAtOnceInGroups() {
    let list = ClientList()
    let subjects = (0..<5).map { _ in Subject() }
    // Enough that the list is copied in steps.
    let lasting = kept((0..<600).map { Numbered($0) })
    for client in lasting { list.add(client, in: subjects[client.name % 5]) }
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
            #expect(list.add(client, in: subjects.randomElement(using: &generator)))
            own.append(client)
          }
        case 3, 4:
          if let client = own.popLast() { #expect(list.remove(client)) }
        case 5, 6:
          own.removeFirst(own.count / 2)
        case 7:
          #expect(list.names().filter { $0 >= 0 } == expected)
        default:
          for group in list.groups {
            let remainder = subjects.firstIndex { $0 === group.subject }
            let names = list.names(in: group).filter { $0 >= 0 }
            #expect(names == expected.filter { $0 % 5 == remainder })
          }
        }
        if own.count > 300 { own.removeFirst(250) }
      }
    }
    #expect(list.names() == expected)
    #expect(list.groups.reduce(0) { $0 + $1.count } == expected.count)
  }

  @Test func companionsAreReplacedAndRemovedWhileOthersWalk() {
    let list = ClientList(companions: true)
    let alive = Atomic<Int>(0)
    let subjects = (0..<3).map { _ in Subject() }
    let owners = kept((0..<400).map { Numbered($0) })
    @Sendable func note(_ text: String) -> Note {
      alive.add(1, ordering: .relaxed)
      return Note(text) { alive.subtract(1, ordering: .relaxed) }
    }
    @Sendable func place(_ owner: Numbered, in subject: Subject?) {
      let new = note("x")
      while true {
        switch list.place(new, of: owner, for: ClientList.key(owner, "x"), in: subject) {
        case .existing(let old):
          if list.replace(old, with: new, of: owner, in: subject) != nil { return }
        default: return
        }
      }
    }
    onThreads(5) { thread in
      var generator = SeededGenerator(seed: UInt64(thread) + 200)
      for _ in 0..<(rounds / 5) {
        guard let owner = owners.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1, 2: place(owner, in: subjects.randomElement(using: &generator))
        case 3: _ = list.removeAll(of: owner) { _ in true }
        case 4: _ = list.texts()
        default: for group in list.groups { _ = list.texts(in: group) }
        }
      }
    }
    let registered = list.names().count
    // Those of whom nothing is left in the list have ended, but for what waits for another walk.
    #expect(alive.load(ordering: .relaxed) >= registered)
    #expect(list.groups.reduce(0) { $0 + list.names(in: $1).count } == registered)
    list.removeAll()
    _ = list.names()
    #expect(alive.load(ordering: .relaxed) == 0)
  }
}
