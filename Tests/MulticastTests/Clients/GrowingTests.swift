import TestSupport
import Testing

@testable import Multicast

/// How a list grows and is tidied: always enough, and a little at a time.
@Suite struct GrowingTests {
  @Test func aListGrowsHoweverManyOfItsClientsWalksFindDead() {
    // A walk vacates without the lock, in the middle of an add that makes room. So room must not depend on
    // how many are vacated at any moment.
    let list = kept(ClientList())
    var clients = list.add(0..<64)
    _ = kept(clients.filter { $0.name < 2 })
    clients = []
    var walk = list.beginWalk()
    while let box = walk.next() {
      if box.load() == nil { walk.noteDead(box) }
    }
    list.withState { state, _ in
      let vacant = state.current.vacant
      state.current.raiseLimit()
      let (count, limit, isFull) = (state.current.count, state.current.limit, state.current.isFull)
      #expect(vacant == 62)
      #expect(limit > count)
      #expect(!isFull)
    }
  }

  @Test func aListThatHasMostlyDeadClientsStillFindsItsClients() {
    let list = ClientList()
    var all: [Numbered] = []
    for round in 0..<200 {
      var clients = list.add(0..<64)
      clients.removeAll { $0.name >= 2 }
      all += clients
      if round % 3 == 0 { _ = list.names() }
    }
    for client in all { #expect(!list.add(client)) }
    #expect(list.names().count == all.count)
    extendLifetime(all)
  }

  @Test(arguments: [1000, 5000, 20_000])
  func noSingleHoldOfTheLockLooksAfterMany(count: Int) {
    let list = ClientList()
    var clients = list.add(0..<count)
    defer { extendLifetime((clients, list)) }
    // Some die, so that the list is copied when it is full.
    clients.removeAll { $0.name % 10 == 0 }
    clients += list.add(count..<(3 * count))
    for client in clients where client.name % 3 == 0 { #expect(list.remove(client)) }
    clients.removeAll { $0.name % 3 == 0 }
    clients.removeAll { $0.name % 7 != 0 }
    #expect(list.names() == clients.map(\.name))
    var walk = list.beginWalk()
    clients += list.add(0..<(2 * count))
    clients.removeAll { $0.name % 2 == 0 }
    #expect(list.names().count == clients.count)
    _ = ClientList.names(&walk)
    #expect(list.names() == clients.map(\.name))
    for client in clients { #expect(!list.add(client)) }
    #if DEBUG
      // A box that is copied is one, and its place in the index with a step of moving another nine.
      let hold = list.longestHold.load(ordering: .relaxed)
      #expect(hold > 9 && hold <= 11 * ClientGeneration.largestStep, "\(hold)")
    #endif
  }

  @Test func whoIsAddedAndRemovedWhileASuccessorIsMadeIsSeenInIt() {
    let list = ClientList()
    let red = Subject()
    var clients = list.add(0..<2000, in: red)
    let group = list.group(of: red)
    beginSuccessor(of: list)
    #expect(!step(list) && !step(list))
    // One that has been copied, one that has not, one that comes, one that comes and goes.
    #expect(list.remove(clients[100]) && list.remove(clients[1900]))
    clients += list.add(2000..<2002, in: red)
    #expect(list.remove(clients[2001]))
    clients.remove(at: 2001)
    clients.remove(at: 1900)
    clients.remove(at: 100)
    // One that dies, and that a walk finds in both.
    clients.remove(at: 50)
    #expect(list.names() == clients.map(\.name))
    while !step(list) {}
    list.makeSuccessor()
    #expect(list.names() == clients.map(\.name))
    #expect(group.map { list.names(in: $0) } == clients.map(\.name))
    #expect(group?.count == clients.count)
    for client in clients { #expect(!list.add(client, in: red)) }
  }

  @Test func whoGetsADeadClientsAddressWhileASuccessorIsMadeIsAddedOnce() {
    let list = ClientList()
    var clients = list.add(0..<600)
    beginSuccessor(of: list)
    #expect(!step(list) && !step(list))
    // It has been copied. A new object gets its address.
    let identity = ObjectIdentifier(clients[100]).address
    clients.remove(at: 100)
    var candidates = [Numbered(600)]
    while ObjectIdentifier(candidates[candidates.count - 1]).address != identity {
      // The address sanitizer does not let memory be used again soon.
      guard candidates.count < 10_000 else {
        #expect(Process.isSanitized)
        return
      }
      candidates.append(Numbered(600))
    }
    let new = candidates[candidates.count - 1]
    #expect(list.add(new))
    while !step(list) {}
    list.makeSuccessor()
    #expect(!list.add(new))
    #expect(list.names() == clients.map(\.name) + [600])
    extendLifetime((clients, candidates))
  }

  private func beginSuccessor(of list: ClientList) {
    list.withState(leavingSuccessor: true) { state, toRelease in
      list.replaceCurrent(&state, droppingInto: &toRelease)
    }
  }

  /// Goes a step, and returns whether everybody has been copied.
  private func step(_ list: ClientList) -> Bool {
    list.withState { state, toRelease in list.advanceSuccessor(&state, droppingInto: &toRelease) }
  }

  @Test func moreWalksThanANumberCanCountAreNoProblem() {
    // Counting begins below the largest number.
    let list = ClientList()
    _ = kept(list.add(0..<3))
    for _ in 0..<10 {
      #expect(list.names().count == 3)
      list.withState { state, _ in
        let isWalked = state.current.isWalked
        #expect(!isWalked)
      }
    }
  }

  /// Addresses are often at equal distances. At some, tables that take the wrong bits search for long.
  @Test(arguments: [1500, 24_000])
  func addressesAtEqualDistancesAreSpread(count: Int) {
    var bits = 5
    while 3 << bits < 4 * count { bits += 1 }
    let size = 1 << bits
    for distance in Array(stride(from: 16, through: 4096, by: 176)) + [496, 512, 2992, 3312, 3632] {
      var isTaken = [Bool](repeating: false, count: size)
      var looks = 0
      for number in 0..<count {
        var place = Hashing.place(of: UInt(0x7F12_0010 + number * distance), bits: bits)
        looks += 1
        while isTaken[place] {
          place = (place + 1) & (size - 1)
          looks += 1
        }
        isTaken[place] = true
      }
      #expect(looks < 4 * count, "distance \(distance)")
    }
  }

  @Test func aListThatMakesRoomWhileItIsWalkedFreesTheOldStorage() {
    let list = ClientList()
    var clients = list.add(0..<16)
    var others: [Numbered] = []
    for round in 1...20 {
      let walk = list.beginWalk()
      defer { _ = walk.limit }
      for number in 0..<20 {
        // One dies, and one on an address comes that nobody has had.
        let new = Numbered(100 * round + number)
        clients.removeFirst()
        others.append(Numbered(0))
        list.add(new)
        clients.append(new)
      }
      extendLifetime(list)
    }
    list.withState { state, _ in
      let count = state.retired.count
      #expect(count <= 2)
    }
    extendLifetime((clients, others, list))
  }

  @Test func aListIsNotFullWhileItsNextStorageIsMade() {
    let list = kept(ClientList(companions: true))
    let owners = kept((0..<300).map { Numbered($0) })
    // The walk ends before that.
    let walk = list.beginWalk()
    defer { _ = walk.limit }
    let notes = owners.map { Note("\($0.name)") }
    for (owner, note) in zip(owners, notes) {
      _ = list.place(note, of: owner, for: ClientList.key(owner, note.text))
    }
    list.prepareToReplace(notes[1], of: owners[1])
    #expect(list.remove(owners[1]))
    // Nobody ends what was prepared, and the list takes as many as may come.
    let others = kept((300..<1000).map { Numbered($0) })
    for owner in others {
      let (placement, leftovers) = list.placeIfThereIsRoom(
        Note(""), of: owner, for: ClientList.key(owner, ""), in: nil)
      list.finish(leftovers)
      if placement == nil { list.makeRoom() }
    }
    #expect(list.names().count > 900)
  }
}
