import Synchronization
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
  func place(_ text: String, of owner: Numbered, in subject: Subject? = nil) -> UInt64? {
    let placement = list.place(
      note(text), of: owner, for: ClientList.key(owner, text), in: subject)
    if case .added(let number) = placement { return number }
    return nil
  }

  func existing(_ text: String, of owner: Numbered) -> Note? {
    let placement = list.place(Note("?"), of: owner, for: ClientList.key(owner, text))
    if case .existing(let companion) = placement { return companion as? Note }
    return nil
  }

  @Test func aClientMayHaveSeveralCompanions() {
    let next = list.nextNumber
    #expect(place("a", of: owner) == next)
    #expect(place("b", of: owner) == next + 1)
    #expect(place("b", of: owner) == nil)
    #expect(existing("b", of: owner)?.text == "b")
    #expect(list.texts() == "a b")
    #expect(list.nextNumber == next + 2)
  }

  @Test func aReplacedCompanionKeepsItsPlaceAndChangesItsGroup() throws {
    for text in ["a", "b", "c", "d", "e"] {
      place(text, of: owner, in: text == "c" ? blue : red)
    }
    let (red, blue) = (try #require(list.group(of: red)), try #require(list.group(of: blue)))
    func replace(_ text: String, with other: String, in subject: Subject?) throws {
      let old = try #require(existing(text, of: owner))
      let number = list.nextNumber
      #expect(list.replace(old, with: note(other), of: owner, in: subject) == number)
      #expect(list.replace(old, with: Note("?"), of: owner, in: subject) == nil)
    }
    _ = journal.read()
    try replace("b", with: "B", in: self.blue)
    #expect(journal.read() == "b")
    #expect(list.texts() == "a B c d e")
    #expect(list.texts(in: red) == "a d e")
    #expect(list.texts(in: blue) == "B c")
    try replace("e", with: "E", in: self.blue)
    #expect(list.texts(in: red) == "a d")
    #expect(list.texts(in: blue) == "B c E")
    try replace("a", with: "A", in: self.blue)
    try replace("d", with: "D", in: nil)
    #expect(list.groups.count == 1)
    #expect((red.count, blue.count) == (0, 4))
    #expect(list.texts(in: red) == "")
    #expect(list.texts(in: blue) == "A B c E")
    try replace("D", with: "d", in: self.red)
    try replace("c", with: "C", in: self.red)
    place("f", of: owner, in: self.red)
    place("g", of: owner, in: self.blue)
    #expect(list.texts(in: red) == "C d f")
    #expect(list.texts(in: blue) == "A B E g")
    #expect(list.texts() == "A B C d E f g")
    #expect((red.count, blue.count) == (3, 4))
  }

  @Test(arguments: [3, 1000]) func aWalkKeepsTheCompanionThatIsReplaced(count: Int) throws {
    let owners = kept((0..<count).map { Numbered($0) })
    for owner in owners { place("\(owner.name)", of: owner, in: red) }
    let red = try #require(list.group(of: red))
    do {
      var walk = list.beginWalk(in: red)
      let old = try #require(existing("1", of: owners[1]))
      let number = try #require(list.replace(old, with: note("new"), of: owners[1], in: blue))
      #expect(number >= walk.limit)
      let texts = ClientList.texts(&walk).split(separator: " ")
      #expect(texts.count == count && texts[1] == "1")
      #expect(list.texts().split(separator: " ")[1] == "new")
      #expect((red.count, list.group(of: blue)?.count) == (count - 1, 1))
      #expect(journal.read() == "")
    }
    #expect(journal.read() == "1")
  }

  @Test func replacingWithinALongWalkLeavesLittleBehind() throws {
    let ended = Atomic<Int>(0)
    let owners = kept((0..<10).map { Numbered($0) })
    for owner in owners { place("x", of: owner) }
    var old = try #require(existing("x", of: owners[3]))
    do {
      let walk = list.beginWalk()
      for _ in 0..<1000 {
        let new = Note("x") { ended.add(1, ordering: .relaxed) }
        #expect(list.replace(old, with: new, of: owners[3]) != nil)
        old = new
      }
      // All but the one that is registered; the first one is not counted.
      #expect(ended.load(ordering: .relaxed) == 999)
      _ = walk.limit
    }
  }

  @Test func whereWalksOverlapWithoutEndCompanionsThatOutnumberTheRestAreGivenUp() {
    let ended = Atomic<Int>(0)
    var most = 0
    func overlap(_ depth: Int) {
      let walk = list.beginWalk()
      for _ in 0..<20 {
        let note = Note("x") { ended.add(1, ordering: .relaxed) }
        _ = list.place(note, of: owner, for: ClientList.key(owner, "x"))
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
    guard case .closed = list.place(Note("b"), of: owner, for: ClientList.key(owner, "b")) else {
      Issue.record("not closed")
      return
    }
  }
}
