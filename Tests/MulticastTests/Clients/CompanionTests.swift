import TestSupport
import Testing

@testable import Multicast

/// Companions, of which a client may have several, and which may be replaced.
@Suite struct CompanionTests {
  let list = kept(ClientList(companions: true))
  let owner = kept(Numbered(0))
  let red = Subject()
  let blue = Subject()
  let journal = Journal()

  func note(_ text: String) -> Note {
    return Note(text) { journal.write(text) }
  }

  @discardableResult
  func place(
    _ text: String, of owner: Numbered, at home: Subject? = nil, replacing old: String? = nil
  ) -> UInt64? {
    let known = list.companions(of: owner)
    let placement = list.place(
      note(text), of: owner, at: home, expecting: known,
      replacing: known.lazy.compactMap { $0 as? Note }.first { $0.text == old })
    if case .added(let number) = placement { return number }
    return nil
  }

  @Test func aClientMayHaveSeveralCompanions() {
    let next = list.nextNumber
    #expect(place("a", of: owner) == next)
    #expect(place("b", of: owner) == next + 1)
    #expect(list.companions(of: owner).map { ($0 as? Note)?.text } == ["a", "b"])
    #expect(list.texts() == "a b")
    #expect(list.nextNumber == next + 2)
    #expect(list.takeNumber() == next + 2)
    #expect(list.nextNumber == next + 3)
  }

  @Test func whoseCompanionsHaveChangedGetsNone() {
    let known = list.companions(of: owner)
    place("a", of: owner)
    guard case .changed = list.place(note("b"), of: owner, expecting: known) else {
      Issue.record("placed")
      return
    }
    #expect(list.texts() == "a")
  }

  @Test func aReplacementComesLastAndEndsTheOldOneAtTheSameMoment() {
    for text in ["a", "b", "c"] { place(text, of: owner, at: red) }
    _ = journal.read()
    place("B", of: owner, at: blue, replacing: "b")
    #expect(journal.read() == "b")
    #expect(list.texts() == "a c B")
    #expect(list.texts(of: list.residents(of: red)) == "a c")
    #expect(list.texts(of: list.residents(of: blue)) == "B")
  }

  @Test(arguments: [3, 1000]) func aWalkKeepsTheCompanionThatIsReplaced(count: Int) throws {
    let owners = kept((0..<count).map { Numbered($0) })
    for owner in owners { place("\(owner.name)", of: owner, at: red) }
    do {
      let walk = list.beginWalk(at: red)
      let number = try #require(place("new", of: owners[1], at: blue, replacing: "1"))
      #expect(number >= walk.limit)
      #expect(list.texts().hasSuffix(" new"))
      #expect(
        (list.residents(of: red)?.count, list.residents(of: blue)?.count) == (count - 1, 1))
      #expect(journal.read() == "")
    }
    #expect(journal.read() == "1")
  }

  @Test func replacingWithinALongWalkLeavesLittleBehind() throws {
    let ended = Atomic<Int>(0)
    let owners = kept((0..<10).map { Numbered($0) })
    for owner in owners { place("x", of: owner) }
    let walk = list.beginWalk()
    var most = 0
    for round in 1...1000 {
      let known = list.companions(of: owners[3])
      let new = Note("x") { ended.wrappingAdd(1, ordering: .relaxed) }
      _ = list.place(new, of: owners[3], expecting: known, replacing: known.first as? Note)
      most = max(most, round - ended.load(ordering: .relaxed))
    }
    #expect(most <= 64, "\(most) ended companions were kept at once")
    _ = walk.limit
  }

  @Test func whereWalksOverlapWithoutEndCompanionsThatOutnumberTheRestAreGivenUp() {
    let ended = Atomic<Int>(0)
    var most = 0
    func overlap(_ depth: Int) {
      let walk = list.beginWalk()
      for _ in 0..<20 {
        let note = Note("x") { ended.wrappingAdd(1, ordering: .relaxed) }
        _ = list.place(note, of: owner)
        #expect(list.removeAll(of: owner) { _ in true } == 1)
      }
      most = max(most, depth * 20 - ended.load(ordering: .relaxed))
      _ = walk.limit
    }
    // Each walk begins before the one before it ends.
    func go(_ depth: Int, during walk: consuming Walk) {
      var walk = walk
      for depth in depth..<(depth + 200) {
        let next = list.beginWalk()
        overlap(depth)
        walk = next
        #expect(walk.limit > 0)
      }
    }
    go(1, during: list.beginWalk())
    #expect(most <= 200)
  }

  @Test func removingAnOwnerAsksOfNobodyElse() {
    let owners = (0..<1000).map { Numbered($0) }
    for owner in owners {
      place("a", of: owner)
      place("b", of: owner)
    }
    var asked = 0
    for owner in owners {
      let removed = list.removeAll(of: owner) { box in
        asked += 1
        #expect(box.load() === owner)
        return true
      }
      #expect(removed == 2)
    }
    // Twice where the index is being moved.
    #expect(asked <= 2 * 2 * owners.count)
    #expect(list.isEmpty)
  }

  @Test func aClosedListTakesNobody() {
    place("a", of: owner)
    #expect(!list.closeIfEmpty())
    #expect(list.removeAll(of: owner) { _ in true } == 1)
    #expect(list.closeIfEmpty())
    guard case .closed = list.place(Note("b"), of: owner) else {
      Issue.record("not closed")
      return
    }
  }
}
