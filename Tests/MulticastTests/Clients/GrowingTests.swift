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
    var clients = list.add(0..<2000, at: red)
    let group = list.residents(of: red)
    beginSuccessor(of: list)
    #expect(!step(list) && !step(list))
    // One that has been copied, one that has not, one that comes, one that comes and goes.
    #expect(list.remove(clients[100]) && list.remove(clients[1900]))
    clients += list.add(2000..<2002, at: red)
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
    #expect(group.map { list.names(of: $0) } == clients.map(\.name))
    #expect(group?.count == clients.count)
    for client in clients { #expect(!list.add(client, at: red)) }
  }

  @Test(arguments: [false, true])
  func whoGetsADeadClientsAddressWhileASuccessorIsMadeIsAddedOnce(isFoundDead: Bool) {
    // Another thread may take the address. The address sanitizer does not let it be used again soon.
    for _ in 0..<100 {
      if replacesADeadClient(isFoundDead: isFoundDead) { return }
    }
    #expect(Process.isSanitized)
  }

  /// Returns false if no new object gets the address of the dead one.
  private func replacesADeadClient(isFoundDead: Bool) -> Bool {
    let list = ClientList()
    var clients = list.add(0..<600)
    beginSuccessor(of: list)
    #expect(!step(list) && !step(list))
    // It has been copied.
    let identity = ObjectIdentifier(clients[100]).address
    clients.remove(at: 100)
    // A walk vacates the box, and not its copy. It allocates nothing, which could take the address.
    let alive = isFoundDead ? list.countAlive() : 599
    var candidates = [Numbered(600)]
    while ObjectIdentifier(candidates[candidates.count - 1]).address != identity {
      if candidates.count == 1000 { return false }
      candidates.append(Numbered(600))
    }
    let new = candidates[candidates.count - 1]
    #expect(alive == 599)
    #expect(list.add(new))
    while !step(list) {}
    list.makeSuccessor()
    #expect(!list.add(new))
    #expect(list.names() == clients.map(\.name) + [600])
    #expect(list.remove(new))
    #expect(list.names() == clients.map(\.name))
    extendLifetime((clients, candidates))
    return true
  }

  private func beginSuccessor(of list: ClientList) {
    list.state.withLock { $0.beginSuccessor() }
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
}
