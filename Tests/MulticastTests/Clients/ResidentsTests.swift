import TestSupport
import Testing

@testable import Multicast

/// Clients with homes, which are walked over apart, in the order of the list.
@Suite struct ResidentsTests {
  let list = kept(ClientList())
  let red = Subject()
  let blue = Subject()

  /// Adds clients by turns without a home, to red and to blue.
  func addByTurns(_ names: Range<Int>) -> [Numbered] {
    names.map { name in
      let client = Numbered(name)
      list.add(client, at: [nil, red, blue][name % 3])
      return client
    }
  }

  func every(_ remainder: Int, of names: Range<Int>) -> [Int] {
    names.filter { $0 % 3 == remainder }
  }

  @Test func aListWithoutHomesHasNone() {
    _ = kept(list.add(0..<20))
    #expect(!list.hasMailboxes)
    #expect(list.homes.isEmpty)
  }

  @Test(arguments: [3, 12, 100, 2000]) func theClientsOfAHomeAreWalkedOverInTheOrderOfTheList(
    count: Int
  ) throws {
    _ = kept(addByTurns(0..<count))
    #expect(list.hasMailboxes)
    #expect(list.homes.count == 2)
    #expect(list.homes.first?.mailbox === red)
    let (red, blue) = (
      try #require(list.residents(of: red)), try #require(list.residents(of: blue))
    )
    #expect(list.names(of: red) == every(1, of: 0..<count))
    #expect(list.names(of: blue) == every(2, of: 0..<count))
    #expect(list.names() == Array(0..<count))
    #expect(red.count == every(1, of: 0..<count).count)
  }

  @Test func whoIsRemovedIsNotMetAndNotCounted() throws {
    let clients = kept(addByTurns(0..<30))
    let red = try #require(list.residents(of: red))
    #expect(list.remove(clients[4]))
    #expect(!list.remove(clients[4]))
    #expect(list.names(of: red) == every(1, of: 0..<30).filter { $0 != 4 })
    #expect(red.count == 9)
  }

  @Test func whoIsDeadIsCountedOutByTheFirstWalkThatMeetsIt() throws {
    var clients = addByTurns(0..<30)
    let red = try #require(list.residents(of: red))
    clients.removeFirst(15)
    #expect(red.count == 10)
    #expect(list.names(of: red) == every(1, of: 15..<30))
    #expect(red.count == 5)
    #expect(list.names() == Array(15..<30))
    #expect(red.count == 5)
    extendLifetime(clients)
  }

  @Test(arguments: [64, 5000]) func homesOutliveCompaction(count: Int) throws {
    var clients = addByTurns(0..<count)
    let red = try #require(list.residents(of: red))
    let numbers = numbersByName()
    clients.removeAll { $0.name % 4 != 0 }
    // The walk finds that the list is sparse, and closes the gaps.
    #expect(list.names() == clients.map(\.name))
    #expect(list.names(of: red) == clients.map(\.name).filter { $0 % 3 == 1 })
    #expect(red.count == list.names(of: red).count)
    for (name, number) in numbersByName() { #expect(numbers[name] == number) }
    let more = addByTurns(count..<(count + 30))
    #expect(list.residents(of: self.red) === red)
    #expect(
      list.names(of: red) == (clients + more).map(\.name).filter { $0 % 3 == 1 })
    extendLifetime(clients)
  }

  @Test(arguments: [64, 5000]) func homesOutliveACopyDuringAWalk(count: Int) throws {
    var clients = addByTurns(0..<count)
    defer { extendLifetime(clients) }
    let red = try #require(list.residents(of: red))
    var walk = list.beginWalk(at: red.mailbox)
    var met: [Int] = []
    while let box = walk.next() {
      if let client = box.load() as? Numbered {
        met.append(client.name)
      } else {
        walk.noteDead(box)
      }
      guard met.count == 3, clients.count == count else { continue }
      clients.removeAll { $0.name % 4 != 0 }
      // Replaces the generation, because the list is sparse and walked over.
      #expect(list.names() == clients.map(\.name))
      #expect(list.names(of: red) == clients.map(\.name).filter { $0 % 3 == 1 })
      let more = addByTurns(count..<(count + 10))
      #expect(list.remove(more[1]) && list.remove(more[2]) && list.remove(more[0]))
      #expect(red.count == list.names(of: red).count)
      clients += more
    }
    #expect(met == [1, 4, 7] + every(1, of: 10..<count).filter { $0 % 4 == 0 })
    #expect(red.count == list.names(of: red).count)
  }

  @Test func whoIsAddedDuringAWalkWaits() throws {
    let clients = kept(addByTurns(0..<9))
    let red = try #require(list.residents(of: red))
    var before = list.beginWalk(at: red.mailbox)
    var after = list.beginWalk(at: red.mailbox)
    _ = kept(addByTurns(9..<300))
    #expect(ClientList.names(&before) == [1, 4, 7])
    #expect(list.remove(clients[4]))
    #expect(ClientList.names(&after) == [1, 7])
    #expect(list.names(of: red) == [1, 7] + every(1, of: 9..<300))
  }

  @Test func aHomeWithoutAnybodyGoesAtTheNextCompaction() throws {
    weak var subject: Subject?
    var old: Residents?
    do {
      let yellow = Subject()
      subject = yellow
      let client = Numbered(0)
      list.add(client, at: yellow)
      old = list.residents(of: yellow)
      #expect(list.homes.count == 1)
      #expect(list.remove(client))
      #expect(list.homes.isEmpty)
    }
    old = nil
    #expect(subject == nil)
    #expect(!list.hasMailboxes)
    extendLifetime(old)
  }

  @Test func aHomeThatWasGivenUpStaysEmpty() throws {
    let client = Numbered(0)
    list.add(client, at: red)
    let old = try #require(list.residents(of: red))
    #expect(list.remove(client))
    list.add(client, at: blue)
    list.add(Numbered(1), at: red)
    #expect(list.names(of: old) == [])
    #expect(list.residents(of: red) !== old)
  }

  @Test func manyHomesAreFoundAgain() {
    let subjects = (0..<200).map { _ in Subject() }
    var clients: [Numbered] = []
    for name in 0..<2000 {
      let client = Numbered(name)
      list.add(client, at: subjects[name * 7 % 200])
      clients.append(client)
    }
    #expect(list.homes.count == 200)
    for residents in list.homes {
      let names = list.names(of: residents)
      #expect(names.count == 10 && names == names.sorted())
    }
    clients.removeAll { $0.name % 5 != 0 }
    #expect(list.names().count == 400)
    #expect(list.homes.count == 40)
    #expect(list.homes.reduce(0) { $0 + list.names(of: $1).count } == 400)
    extendLifetime(clients)
  }

  // MARK: Numbers

  func numbersByName() -> [Int: UInt64] {
    var numbers: [Int: UInt64] = [:]
    var walk = list.beginWalk()
    while let box = walk.next() {
      if let client = box.load() as? Numbered { numbers[client.name] = box.number }
    }
    return numbers
  }

  @Test func numbersRiseAndTellWhoWasThereBefore() {
    let clients = kept(addByTurns(0..<40))
    let limit = list.nextNumber
    let walk = list.beginWalk()
    #expect(walk.limit == limit)
    _ = kept(addByTurns(40..<80))
    let numbers = numbersByName()
    for name in 1..<80 { #expect(numbers[name]! > numbers[name - 1]!) }
    for (name, number) in numbers { #expect((number < limit) == (name < 40)) }
    #expect(!list.add(clients[0]))
    #expect(list.nextNumber == limit + 40)
  }
}
