import Dispatch
import Logging
import Multicast
import MulticastCarrierTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import MulticastCarrier

@Suite(.timeLimit(.minutes(60))) struct CarriageTests {
  private let hub = InMemoryCarrier.Hub()

  @Test(arguments: [false, true]) func carriesBothWaysWithoutAnEcho(echoes: Bool) async throws {
    let one = Site(hub, "one", echoes: echoes)
    let two = Site(hub, "two", echoes: echoes)
    try await withSites(one, two) {
      one.post(1)
      try await two.hears([1])
      two.post(2)
      // An echo of 1 would come before 2, and one of 2 before 3.
      try await one.hears([1, 2])
      one.post(3)
      try await two.hears([1, 2, 3])
    }
  }

  @Test func publishesWhatAHandlerAnswersToWhatCameIn() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      two.center.observe(.note, owner: two) { site, note in
        if note.number < 10 { site.post(note.number + 10) }
      }
      one.post(1, 2)
      try await eventually("all are answered") { Set(one.numbers()) == [1, 2, 11, 12] }
      #expect(one.numbers().count == 4)
    }
  }

  @Test func publishesWhatAHandlerAtHomeAnswers() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let queue = DispatchQueue(label: "home")
      two.center.observe(.note, owner: two, on: queue) { site, note in
        if note.number < 10 { site.post(note.number + 10) }
      }
      for number in 1...5 { one.post(number) }
      try await eventually("all are answered") { one.numbers().count == 10 }
      #expect(one.numbers().filter { $0 > 10 } == Array(11...15))
    }
  }

  @Test func keepsTheOrderOfEachSender() async throws {
    let sites = (0..<3).map { Site(hub, "\($0)") }
    let reader = Site(hub, "reader")
    try await withSites(sites[0], sites[1], sites[2], reader) {
      await withTaskGroup { group in
        for (index, site) in sites.enumerated() {
          group.addTask { for number in 0..<300 { site.post(index * 1_000 + number) } }
        }
      }
      try await eventually("all arrive") { reader.numbers().count == 900 }
      for index in 0..<3 {
        let numbers = reader.numbers().filter { $0 / 1_000 == index }
        #expect(numbers == (0..<300).map { index * 1_000 + $0 })
      }
    }
  }

  /// What threads post at once has one order, here and in the other processes.
  @Test func hasOneOrderForConcurrentPosts() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let queue = DispatchQueue(label: "home")
      let here = NIOLockedValueBox<[Int]>([])
      one.center.observe(.note, owner: one, on: queue) { _, note in
        here.withLockedValue { $0.append(note.number) }
      }
      await withTaskGroup { group in
        for thread in 0..<4 {
          group.addTask { for number in 0..<1_000 { one.post(thread * 1_000 + number) } }
        }
      }
      try await eventually("all arrive") { two.numbers().count == 4_000 }
      queue.sync {}
      #expect(two.numbers() == here.withLockedValue { $0 })
    }
  }

  // MARK: Repair

  @Test func repairsWhatWasMissed() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      one.post(1, 2)
      try await two.hears([1, 2])
      two.carrier.disconnect()
      for number in 3...500 { one.post(number) }
      try await one.hears(Array(1...500))
      two.carrier.reconnect()
      one.post(501)
      try await two.hears(Array(1...501))
      #expect(two.missing == 0)
    }
  }

  @Test func sendsWhatWasPostedWhileItWasAlone() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      one.carrier.disconnect()
      try await one.reports { $0 == .disconnected("The connection was cut.") }
      one.post(1, 2, 3)
      try await eventually("they wait") { one.carriage.condition.waitingMessages == 3 }
      #expect(two.numbers() == [])
      one.carrier.reconnect()
      try await two.hears([1, 2, 3])
      #expect(two.missing == 0)
    }
  }

  @Test func tellsWhatItsSenderHasNoMore() async throws {
    var limits = Carriage.Limits.patient
    limits.keptBytes = 10_000
    let one = Site(hub, "one", limits: limits)
    let two = Site(hub, "two")
    try await withSites(one, two) {
      one.post(1)
      try await two.hears([1])
      two.carrier.disconnect()
      for number in 2...201 { one.post(number) }
      try await one.publishes(201)
      two.carrier.reconnect()
      try await eventually("the last arrives") { two.numbers().last == 201 }
      let numbers = two.numbers()
      let first = numbers[1]
      #expect(first > 2)
      #expect(numbers == [1] + Array(first...201))
      let place = CarriageReport.Place(sender: one.carriage.identity, type: "note", sequence: 1)
      try await two.tells(.gapPossible(since: place, missing: UInt64(first - 2)))
      // What was sent and is forgotten is no loss of this process's.
      #expect(one.carriage.condition.dropped == 0)
    }
  }

  @Test func tellsWhatADeadSenderHasTakenWithIt() async throws {
    var limits = Carriage.Limits()
    limits.repairTime = .milliseconds(300)
    limits.keptTime = .milliseconds(600)
    let one = Site(hub, "one")
    let two = Site(hub, "two", limits: limits)
    try await withSites(one, two) {
      one.post(1)
      try await two.hears([1])
      two.carrier.disconnect()
      one.post(2)
      try await one.hears([1, 2])
      let identity = one.carriage.identity
      one.vanish()
      two.carrier.reconnect()
      // Somebody repeats the sender's last message.
      let stranger = Stranger(hub, identity)
      try stranger.send(.message(Note(number: 3), 3))
      try await two.hears([1, 3])
      let place = CarriageReport.Place(sender: identity, type: "note", sequence: 1)
      try await two.tells(.gapPossible(since: place, missing: 1))
    }
  }

  // MARK: Bounds

  @Test func boundsTheBytesThatWaitToLeave() async throws {
    let one = Site(hub, "one") { carriage in
      carriage.carry(.note, as: "note")
      carriage.carry(.other, as: "other", overflow: .dropNewest)
      carriage.carry(.latest, as: "latest")
    }
    let text = String(repeating: "x", count: 900_000)
    for number in 0..<30 { one.post(Note(number: number, text: text)) }
    try await one.reports {
      if case .dropped("note", .outgoing, let count) = $0 { count > 0 } else { false }
    }
    try await eventually("all are heard") { one.carriage.condition.dropped == 26 }
    #expect(one.carriage.condition.waitingBytes < 4 << 20)
    #expect(one.carriage.condition.waitingMessages == 4)

    // Of this topic, the new ones stay here, and their poster is told.
    for number in 0..<30 { one.center.post(.other, Note(number: number, text: text)) }
    try await one.reports {
      if case .kept("other", .full, let count) = $0 { count > 0 } else { false }
    }
    let error = await #expect(throws: CarrierError.self) {
      try await one.carriage.post(.other, Note(number: 31, text: text))
    }
    if case .full = error {} else { Issue.record("\(String(describing: error))") }
    #expect(!one.numbers("other").contains(31))
  }

  @Test func boundsWhatWaitsForHandlersAndTellsItOnce() async throws {
    var limits = Carriage.Limits.patient
    limits.waitingMessages = 10
    let one = Site(hub, "one")
    let two = Site(hub, "two", limits: limits)
    try await withSites(one, two) {
      let gate = DispatchSemaphore(value: 0)
      let queue = DispatchQueue(label: "gate")
      two.center.observe(.note, owner: two, on: queue) { _, note in
        if note.number == 0 { gate.wait() }
      }
      // The lane waits after its window, and then ten wait. It goes on after a while, so that a slow machine
      // gives up fewer of the same number.
      let start = ContinuousClock.now
      var posted = 0
      try await eventually("more than enough are given up") {
        for _ in 0..<100 {
          one.post(posted)
          posted += 1
        }
        return two.carriage.condition.dropped > 900
      }
      gate.signal()
      try await eventually("the last arrives") { two.numbers().last == posted - 1 }
      let numbers = two.numbers()
      #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      try await eventually("all are told") {
        two.reports.reduce(numbers.count) {
          if case .dropped("note", .incoming, let count) = $1 { $0 + count } else { $0 }
        } == posted
      }
      let lines = two.log.lines.withLockedValue { $0.filter { $0.text.contains("given up") } }
      #expect(lines.count <= 3 + Int((ContinuousClock.now - start) / .seconds(1)))
    }
  }

  @Test func keepsTheLatestOnlyWhereThatIsWanted() async throws {
    let carry: (Carriage) -> Void = { $0.carry(.note, as: "note", overflow: .keepLatest) }
    let one = Site(hub, "one", topics: carry)
    let two = Site(hub, "two", topics: carry)
    try await withSites(one, two) {
      two.carrier.disconnect()
      for number in 0..<1_000 { one.post(number) }
      // All of them, before anybody else can hear them.
      try await one.publishes(1_000)
      two.carrier.reconnect()
      try await two.hears([999])
      #expect(two.missing == 0)
      #expect(one.carriage.condition.waitingMessages == 0)
    }
  }

  @Test func refusesWhatIsTooLargeWhereItIsPosted() async throws {
    let one = Site(hub, "one", payloadLimit: 2_000)
    let two = Site(hub, "two", payloadLimit: 2_000)
    try await withSites(one, two) {
      let large = Note(number: 1, text: String(repeating: "x", count: 2_000))
      let error = await #expect(throws: CarrierError.self) {
        try await one.carriage.post(.note, large)
      }
      #expect(error?.description.contains("at most") == true)
      // Posted like any message, it reaches this process alone, and that is told.
      one.post(large)
      try await one.reports {
        if case .kept("note", .tooLarge, 1) = $0 { true } else { false }
      }
      try await one.carriage.post(.note, Note(number: 2))
      try await one.hears([1, 2])
      try await two.hears([2])
    }
  }

  @Test func livesThroughAMessageThatCannotBeEncoded() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let error = await #expect(throws: CarrierError.self) {
        try await one.carriage.post(.note, Note(number: 1, value: .nan))
      }
      if case .notEncodable = error {} else { Issue.record("\(String(describing: error))") }
      one.post(Note(number: 1, value: .nan))
      try await one.reports {
        if case .kept("note", .notEncodable, 1) = $0 { true } else { false }
      }
      one.post(2)
      try await one.hears([1, 2])
      try await two.hears([2])
    }
  }

  // MARK: Lanes

  @Test func anAnswerArrivesThroughTheTopicThatWaitsForIt() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let answered = NIOLockedValueBox<[Int]>([])
      two.center.observe(.note, owner: two) { (site, note) async in
        guard note.number < 100 else { return }
        // Waits for an answer to its question, which comes the same way.
        var answers = site.center.messages(of: .note).makeAsyncIterator()
        site.post(note.number + 1_000)
        while let answer = await answers.next(), answer.number != note.number + 2_000 {}
        answered.withLockedValue { $0.append(note.number) }
      }
      one.center.observe(.note, owner: one) { site, note in
        if (1_000..<2_000).contains(note.number) { site.post(note.number + 1_000) }
      }
      one.post(1, 2, 3)
      try await eventually("all are answered") { answered.withLockedValue { $0 } == [1, 2, 3] }
    }
  }

  @Test func aSlowTopicHoldsUpNoOther() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let (gate, open) = AsyncStream<Void>.makeStream()
      two.center.observe(.note, owner: two) { (_, note) async in for await _ in gate {} }
      for number in 0..<200 { one.post(number) }
      for number in 0..<200 { one.center.post(.other, Note(number: number)) }
      try await two.hears(Array(0..<200), on: "other")
      open.finish()
      try await two.hears(Array(0..<200))
    }
  }

  // MARK: Strangers

  @Test func skipsWhatItCannotRead() async throws {
    let one = Site(hub, "one")
    let stranger = Stranger(hub, Identity(name: "stranger", start: 7))
    try await withSites(one) {
      try stranger.send(raw: [])
      try await one.skips("It has no header.")
      try stranger.send(raw: Array("{\"format\":1}\n".utf8))
      try stranger.send(raw: [0x4D, 9, 0])
      try await one.skips("Its header has format 9, and this program knows 3.")
      try stranger.send(raw: [0x4D, 3, 0, 0, 0])
      try stranger.send(raw: [0x4D, 3, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
      let start = [0x4D, 3, 0, 0, 0, 0] + [UInt8](repeating: 7, count: 8)
      try stranger.send(raw: start + [3] + [UInt8](repeating: 0xFF, count: 40))
      try stranger.send(raw: start + [200])
      try await one.skips("It cannot be taken apart.")
      try await eventually("all are counted") {
        one.carriage.state.withLockedValue { $0.exchange.counts.skipped } == 7
      }
      try stranger.send(.beat([:]))
      try stranger.send(.message(Note(number: 1), 1, type: "letter"))
      try await one.skips("This program does not know letter.")
      try stranger.send(.message(Note(number: 1), 1, version: 9, oldest: 3))
      try await one.skips("note has version 9, which version 3 can read")
      try stranger.send(.bytes(Array("{\"number\":".utf8), 2))
      try await one.skips("note of stranger#7 cannot be decoded")
      // A later version that this one can read.
      try stranger.send(.message(Note(number: 3), 3, version: 9, oldest: 2))
      try stranger.send(.message(Note(number: 4), 4, version: 1, oldest: 1))
      try await one.hears([3, 4])
    }
  }

  @Test func readsTheRestWhereSomeAreOfALaterVersion() async throws {
    let one = Site(hub, "one")
    let stranger = Stranger(hub, Identity(name: "stranger", start: 7))
    try await withSites(one) {
      let bodies = (1...5).map { "{\"number\":\($0),\"text\":\"\",\"value\":0}" }
      try stranger.send(.beat([:]))
      try stranger.send(.several(bodies, newer: 1..<3))
      try await one.skips("note has version 9, which version 3 can read")
      try await one.hears([1, 4, 5])
      #expect(one.carriage.state.withLockedValue { $0.exchange.counts.skipped } == 2)
    }
  }

  @Test func decodesTheRestWhereOneCannotBeDecoded() async throws {
    let one = Site(hub, "one")
    let stranger = Stranger(hub, Identity(name: "stranger", start: 7))
    try await withSites(one) {
      let bodies = [
        #"{"number":1,"text":"","value":0}"#, #"{"number":2"#,
        #""text":"","value":0}"#, #"{"number":4,"text":"","value":0}"#,
      ]
      try stranger.send(.beat([:]))
      try stranger.send(.several(bodies))
      try await one.hears([1, 4])
      try await one.skips("note of stranger#7 cannot be decoded")
    }
  }

  @Test func neverBelievesAnImplausibleJump() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      one.post(1)
      try await two.hears([1])
      let stranger = Stranger(hub, one.carriage.identity)
      for number: UInt64 in [.max, .max - 1, 1 << 40] {
        try stranger.send(.beat(["note": number]))
        try stranger.send(.message(Note(number: 666), number))
      }
      try await two.skips("one#")
      one.post(2)
      try await two.hears([1, 2])
      // What looks like the next messages but one was never published, either.
      try stranger.send(.message(Note(number: 666), 5))
      try stranger.send(.beat(["note": 1_000]))
      try await two.skips("\(one.carriage.identity) has never published")
      for number in 3...6 { one.post(number) }
      try await two.hears(Array(1...6))
      #expect(two.missing == 0)
    }
  }

  @Test func recoversFromABeginningThatSomebodyInvents() async throws {
    let two = Site(hub, "two")
    try await two.start()
    let one = Site(hub, "one")
    let stranger = Stranger(hub, one.carriage.identity)
    try stranger.send(.beat(["note": UInt64(1) << 50]))
    try await two.reports { $0 == .joined(one.carriage.identity) }
    try await one.start()
    one.post(1, 2)
    try await eventually("the last arrives") { two.numbers().last == 2 }
    one.post(3)
    try await eventually("the next arrives") { two.numbers().last == 3 }
    for site in [one, two] { await site.stop() }
  }

  @Test func anInventedStampStopsNobody() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let stranger = Stranger(hub, Identity(name: "stranger", start: 7))
      try stranger.send(.latest(Note(number: 666), .max))
      for site in [one, two] { try await site.skips("The stamp of latest") }
      one.center.post(.latest, Note(number: 1))
      try await two.hears([1], on: "latest")
    }
  }

  @Test func forgetsProcessesThatWereInvented() async throws {
    var limits = Carriage.Limits.patient
    limits.peers = 100
    let one = Site(hub, "one", limits: limits)
    try await withSites(one) {
      for number in 0..<300 {
        let stranger = Stranger(hub, Identity(name: "\(number)", start: 7))
        try stranger.send(.message(Note(number: 1), 1))
        stranger.leave()
      }
      await one.carrier.flush()
      #expect(one.carriage.state.withLockedValue { $0.exchange.knownPeers } == 100)
    }
  }

  // MARK: Identity

  @Test func aProcessThatStartsAgainUnderItsNameIsHeardFromItsFirstMessage() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      one.post(1, 2, 3)
      try await two.hears([1, 2, 3])
      one.vanish()
      let again = Site(hub, "one")
      try await again.start(two)
      again.post(4, 5)
      try await two.hears([1, 2, 3, 4, 5])
      await again.stop()
    }
  }

  @Test func twoProcessesOfOneNameHearEachOtherAndAreTold() async throws {
    let one = Site(hub, "name")
    let two = Site(hub, "name")
    try await withSites(one, two) {
      one.post(1)
      try await two.hears([1])
      two.post(2)
      try await one.hears([1, 2])
      try await one.reports { $0 == .nameTaken(two.carriage.identity) }
      try await two.reports { $0 == .nameTaken(one.carriage.identity) }
    }
  }

  @Test func tellsWhoComesAndGoes() async throws {
    var limits = Carriage.Limits.patient
    limits.heartbeat = .milliseconds(50)
    limits.peerTime = .milliseconds(500)
    let one = Site(hub, "one", limits: limits)
    let two = Site(hub, "two", limits: limits)
    let three = Site(hub, "three", limits: limits)
    try await withSites(one, two, three) {
      three.vanish()
      try await one.reports { $0 == .left(three.carriage.identity) }
      await two.stop()
      try await one.reports { $0 == .left(two.carriage.identity) }
      try await eventually("the state tells it") { one.carriage.condition.lag.isEmpty }
    }
  }

  // MARK: Chains

  @Test func endsALoopAcrossTwoProcesses() async throws {
    var limits = Carriage.Limits.patient
    limits.chain = 20
    let one = Site(hub, "one", limits: limits)
    let two = Site(hub, "two", limits: limits)
    try await withSites(one, two) {
      one.center.observe(.other, owner: one) { site, note in site.post(note.number + 1) }
      two.center.observe(.note, owner: two) { site, note in
        site.center.post(.other, Note(number: note.number + 1))
      }
      one.post(1)
      try await eventually("one of them ends it") {
        (one.reports + two.reports).contains {
          if case .kept(_, .loop, 1) = $0 { true } else { false }
        }
      }
      let count = one.numbers().count + one.numbers("other").count
      #expect((40..<60).contains(count))
    }
  }

  /// Each message sets off two others, and these four, and so on.
  @Test func endsATreeAcrossProcesses() async throws {
    var limits = Carriage.Limits.patient
    limits.chain = 20
    let sites = ["one", "two", "three"].map { Site(hub, $0, limits: limits) }
    try await withSites(sites[0], sites[1], sites[2]) {
      for site in sites {
        let name = site.carriage.identity.name
        site.center.observe(.note, owner: site) { site, note in
          if note.text != name { site.post(Note(number: note.number + 1, text: name)) }
        }
      }
      sites[0].post(Note(number: 1, text: "one"))
      for site in sites {
        try await site.reports {
          if case .kept("note", .loop, _) = $0 { true } else { false }
        }
      }
      // What each of them has published reaches all others, and nothing follows it.
      let published = { sites.map { $0.carriage.state.withLockedValue { $0.exchange.counts } } }
      try await eventually("all is delivered") {
        let counts = published()
        let sum = counts.reduce(0) { $0 + $1.published }
        return counts.allSatisfy { $0.delivered == sum - $0.published }
      }
      for counts in published() { #expect(counts.published <= limits.chain + 1) }
    }
  }

  @Test func oneMessageMayHaveManyAnswers() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      two.center.observe(.note, owner: two) { site, _ in
        for number in 0..<3_000 { site.center.post(.other, Note(number: number)) }
      }
      one.post(1)
      try await one.hears(Array(0..<3_000), on: "other")
      #expect(two.carriage.condition.dropped == 0)
    }
  }

  @Test func metadataGoesWithAMessageAndWithItsAnswers() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let seen = NIOLockedValueBox<[String?]>([])
      let queue = DispatchQueue(label: "home")
      two.center.observe(.note, owner: two, on: queue) { site, note in
        seen.withLockedValue { $0.append(CarriageContext.current.metadata["trace"]) }
        site.center.post(.other, note)
      }
      one.center.observe(.other, owner: one, on: queue) { _, _ in
        let context = CarriageContext.current
        seen.withLockedValue {
          $0.append("\(context.metadata["trace"] ?? "") \(context.sender?.name ?? "")")
        }
      }
      CarriageContext.with(metadata: ["trace": "4bf9"]) { one.post(1) }
      try await eventually("both are seen") { seen.withLockedValue { $0.count } == 2 }
      #expect(seen.withLockedValue { $0 } == ["4bf9", "4bf9 two"])
    }
  }

  @Test func metadataGoesWithAPostThatIsCertain() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      let seen = NIOLockedValueBox<[String]>([])
      two.center.observe(.note, owner: two) { _, note in
        let trace = CarriageContext.current.metadata["trace"] ?? ""
        seen.withLockedValue { $0.append("\(note.number) \(trace)") }
      }
      try await CarriageContext.with(metadata: ["trace": "4bf9"]) {
        try await one.carriage.post(.note, Note(number: 1))
      }
      CarriageContext.with(metadata: ["trace": "07ac"]) {
        one.center.post(.note, Note(number: 2))
      }
      try await eventually("both are seen") { seen.withLockedValue { $0.count } == 2 }
      #expect(seen.withLockedValue { $0 } == ["1 4bf9", "2 07ac"])
    }
  }

  @Test func aCertainPostHasTheCodecOfItsTopic() async throws {
    func site(_ name: String) -> Site {
      Site(hub, name) { $0.carry(.note, as: "note", codec: NumberCodec()) }
    }
    let one = site("one")
    let two = site("two")
    try await withSites(one, two) {
      try await one.carriage.post(.note, Note(number: 7))
      one.post(8)
      try await two.hears([7, 8])
    }
  }

  // MARK: What an engine tells

  @Test func tellsEachRefusalOnce() async throws {
    let site = Teller(
      [.connected] + (0..<100).map { .problem("No right to \($0 % 2).") } + [.disconnected("End.")])
    try await site.run { site in
      try await eventually("all is told") { site.reports.last == .disconnected("End.") }
      #expect(
        site.reports == [
          .connected, .problem("No right to 0."), .problem("No right to 1."), .disconnected("End."),
        ])
    }
  }

  @Test func saysThatAnEngineHasNotAnsweredYet() async throws {
    let site = Teller([])
    func reason() -> String? {
      if case .alone(_, let reason) = site.carriage.condition.connection { reason } else { nil }
    }
    #expect(reason() == "The carriage does not run yet.")
    try await site.run { _ in
      try await eventually("it runs") { reason() == "The engine has not answered yet." }
    }
  }

  // MARK: Latest values

  @Test func aLateProcessReceivesTheLatestValue() async throws {
    let one = Site(hub, "one")
    one.center.post(.latest, Note(number: 1))
    let two = Site(hub, "two")
    try await withSites(one, two) {
      try await two.hears([1], on: "latest")
      two.center.post(.latest, Note(number: 2))
      try await one.hears([1, 2], on: "latest")
      // The one who posted it has gone, and the others have it.
      await two.stop()
      let three = Site(hub, "three")
      try await three.start(one)
      try await three.hears([2], on: "latest")
      #expect(three.center.latest(of: .latest)?.number == 2)
      await three.stop()
    }
  }

  @Test func allProcessesEndWithOneLatestValue() async throws {
    let sites = ["one", "two", "three"].map { Site(hub, $0) }
    try await withSites(sites[0], sites[1], sites[2]) {
      for round in 0..<100 {
        await withTaskGroup { group in
          for (index, site) in sites.enumerated() {
            group.addTask { site.center.post(.latest, Note(number: round * 10 + index)) }
          }
        }
        try await eventually("all agree in round \(round)") {
          let latest = sites.map { $0.center.latest(of: .latest)?.number }
          return Set(latest).count == 1 && latest[0].map { $0 / 10 == round } == true
        }
      }
    }
  }

  @Test func latestValuesAgreeAfterASplit() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await withSites(one, two) {
      two.carrier.disconnect()
      for number in 0..<5 { one.center.post(.latest, Note(number: number)) }
      two.center.post(.latest, Note(number: 100))
      two.carrier.reconnect()
      // Either of them may have been the later one. Both end with the same.
      try await eventually("both agree") {
        let latest = [one, two].map { $0.center.latest(of: .latest)?.number }
        return latest[0] == latest[1] && (latest[0] == 4 || latest[0] == 100)
      }
    }
  }

  // MARK: Interest, life

  @Test func nobodyDecodesWhatNobodyHears() async throws {
    let decoded = NIOLockedValueBox(0)
    let codec = CountingCodec(decoded: decoded)
    let one = Site(hub, "one") { $0.carry(.note, as: "note", codec: codec, direction: .outgoing) }
    let two = Site(hub, "two") { $0.carry(.note, as: "note", codec: codec, direction: .outgoing) }
    let three = Site(hub, "three") {
      $0.carry(.note, as: "note", codec: codec, direction: .incoming)
    }
    try await withSites(one, two, three) {
      one.post(1)
      two.post(2)
      try await eventually("both arrive") { three.numbers().sorted() == [1, 2] }
      three.post(3)
      await three.carrier.flush()
      #expect(decoded.withLockedValue { $0 } == 2)
      #expect(one.numbers() == [1] && two.numbers() == [2])
      // The topic is left, and taken up again.
      three.carriage.stopCarrying("note")
      one.post(4)
      try await one.publishes(2)
      await three.carrier.flush()
      #expect(decoded.withLockedValue { $0 } == 2)
    }
  }

  @Test func whatIsPostedBeforeTheStartIsSentAndAfterTheEndIsTold() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    try await two.start()
    one.post(1, 2)
    try await one.start(two)
    try await two.hears([1, 2])
    one.post(3)
    await one.stop()
    try await two.hears([1, 2, 3])
    one.post(4)
    try await one.reports { $0 == .kept(type: "note", reason: .closed, count: 1) }
    // An answer to what comes in while it ends is no error.
    let lines = one.log.lines.withLockedValue { $0 }.filter { $0.text.contains("stay in this") }
    #expect(lines.map(\.level) == [.notice])
    #expect(one.carriage.condition.connection == .closed)
    await #expect(throws: CarrierError.closed) {
      try await one.carriage.post(.note, Note(number: 5))
    }
    await two.stop()
  }

  @Test func readsNothingAfterItsEnd() async throws {
    let carrier = StalledStore()
    let carriage = Carriage(
      center: MulticastCenter(carrying: .carriage), carrier: carrier, name: "one",
      limits: .patient, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    carriage.carry(.note, as: "note")
    carriage.carry(.other, as: "other")
    let task = Task { await carriage.run() }
    try await eventually("it reads") { carrier.readings.withLockedValue { $0.count } == 1 }
    task.cancel()
    await task.value
    // What was under way comes late.
    for reading in carrier.readings.withLockedValue({ $0 }) { reading.resume() }
    try await eventually("it lets go") { carrier.hasAnswered.withLockedValue { $0 } }
    for _ in 1...20 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(carrier.readings.withLockedValue { $0.count } == 1)
  }

  @Test func theStateIsATopic() async throws {
    let one = Site(hub, "one")
    let two = Site(hub, "two")
    let states = NIOLockedValueBox<[CarriageState]>([])
    try await withSites(one, two) {
      one.center.observe(.carriageState, owner: one) { _, state in
        states.withLockedValue { $0.append(state) }
      }
      try await eventually("two is known") {
        one.center.latest(of: .carriageState)?.lag == [two.carriage.identity: 0]
      }
      one.carrier.disconnect()
      one.post(1)
      try await eventually("it tells that it is alone") {
        let state = one.center.latest(of: .carriageState)
        guard case .alone(_, "The connection was cut.") = state?.connection else { return false }
        return state?.waitingMessages == 1
      }
      one.carrier.reconnect()
      try await eventually("it tells that it is connected") {
        let state = one.center.latest(of: .carriageState)
        return state?.connection == .connected && state?.waitingMessages == 0
      }
    }
    try await eventually("it tells its end") {
      states.withLockedValue { $0.last?.connection } == .closed
    }
  }

  @Test func anAnswerWaitsForItsQuestion() async throws {
    let carry: (Carriage) -> Void = { $0.carry(.note, as: "note", followsCauses: true) }
    // As long as a slow machine wants. The simulation counts the hundred milliseconds, in its own time.
    var limits = Carriage.Limits.patient
    limits.holdBack = .minutes(30)
    let one = Site(hub, "one", limits: limits, topics: carry)
    let two = Site(hub, "two", limits: limits, topics: carry)
    let three = Site(hub, "three", limits: limits, topics: carry)
    try await withSites(one, two, three) {
      two.center.observe(.note, owner: two) { site, note in
        if note.number < 100 { site.post(note.number + 100) }
      }
      // The question comes to three later than the answer does.
      three.carrier.delay(.milliseconds(50), from: one.carrier)
      for number in 0..<10 {
        one.post(number)
        try await eventually("both arrive") { three.numbers().count == 2 * number + 2 }
        #expect(three.numbers().suffix(2) == [number, number + 100])
      }
    }
  }

  @Test func anAnswerWaitsForALostQuestionNoLongerThanThatIsWorth() async throws {
    let one = Site(hub, "one") { $0.carry(.note, as: "note", followsCauses: true) }
    try await withSites(one) {
      let author = Stranger(hub, Identity(name: "author", start: 7))
      let stranger = Stranger(hub, Identity(name: "stranger", start: 8))
      for somebody in [author, stranger] { try somebody.send(.beat([:])) }
      // It follows a message that never comes.
      try stranger.send(.message(Note(number: 1), 1, after: [author.identity: 1]))
      try await one.hears([1])
    }
  }

  /// A carrier that keeps whoever publishes waiting keeps nobody waiting who posts.
  @Test func noPostWaitsForTheCarrier() async throws {
    let gate = DispatchSemaphore(value: 0)
    let center = MulticastCenter(carrying: .carriage)
    let carriage = Carriage(
      center: center, carrier: Stalled(hub: hub, gate: gate), name: "one", limits: .patient)
    carriage.carry(.note, as: "note", version: 2)
    let heard = NIOLockedValueBox(0)
    center.observe(.note, owner: carriage) { _, _ in heard.withLockedValue { $0 += 1 } }
    let two = Site(hub, "two")
    try await two.start()
    let task = Task { await carriage.run() }
    try await two.reports { $0 == .joined(carriage.identity) }
    // All but the first ones would wait for ever, because the gate opens after them.
    for number in 0..<1_000 { center.post(.note, Note(number: number)) }
    #expect(heard.withLockedValue { $0 } == 1_000)
    for _ in 0..<1_000 { gate.signal() }
    try await two.hears(Array(0..<1_000))
    task.cancel()
    await task.value
    await two.stop()
  }

  @Test func aCenterThatDoesNotCarryTheContextIsRefused() async {
    await #expect(processExitsWith: .failure) {
      _ = Carriage(center: MulticastCenter(), carrier: InMemoryCarrier(), name: "one")
    }
  }

  @Test func aPrefixThatNoEngineTakesIsRefused() async {
    await #expect(processExitsWith: .failure) {
      _ = Carriage(
        center: MulticastCenter(carrying: .carriage), carrier: InMemoryCarrier(), name: "one",
        prefix: "two words")
    }
  }
}

/// Somebody who publishes what he likes.
struct Stranger {
  private let carrier: InMemoryCarrier
  let identity: Identity

  init(_ hub: InMemoryCarrier.Hub, _ identity: Identity) {
    self.identity = identity
    carrier = InMemoryCarrier(hub: hub)
    carrier.open { _ in }
  }

  enum Forgery {
    case message(
      Note, UInt64, type: String = "note", version: UInt32 = 2, oldest: UInt32 = 1,
      after: [Identity: UInt64] = [:])
    case bytes([UInt8], UInt64)
    /// The first messages, in one payload. Those at some places cannot be read by this version.
    case several([String], newer: Range<Int> = 0..<0)
    case beat([String: UInt64])
    case latest(Note, UInt64)
  }

  func send(raw bytes: [UInt8]) throws {
    try carrier.publish(ByteBuffer(bytes: bytes), to: "multicast.control")
  }

  func send(_ forgery: Forgery) throws {
    var body = ByteBuffer()
    let content: Packet.Content
    var more: [Packet.Content] = []
    switch forgery {
    case .message(let note, let sequence, let type, let version, let oldest, let after):
      try JSONCodec<Note>().encode(note, into: &body)
      var envelope = Envelope(type: type, body: body)
      (envelope.version, envelope.oldest) = (version, oldest)
      content = .message(envelope, sequence: sequence, after: after)
    case .bytes(let bytes, let sequence):
      let envelope = Envelope(type: "note", body: ByteBuffer(bytes: bytes))
      content = .message(envelope, sequence: sequence, after: [:])
    case .several(let bodies, let newer):
      more = bodies.enumerated().map { index, text in
        var envelope = Envelope(type: "note", body: ByteBuffer(string: text))
        if newer.contains(index) { (envelope.version, envelope.oldest) = (9, 3) }
        return .message(envelope, sequence: UInt64(index) + 1, after: [:])
      }
      content = more.removeFirst()
    case .beat(let last): content = .beat(Places(last: last))
    case .latest(let note, let counter):
      try JSONCodec<Note>().encode(note, into: &body)
      content = .latest(
        Envelope(type: "latest", body: body), Stamp(counter: counter, author: identity))
    }
    var packet = Packet(sender: identity, content)
    packet.contents += more
    try carrier.publish(packet.payload(), to: "multicast.control")
  }

  func leave() { carrier.disconnect() }
}

/// A carriage whose engine tells what a test wants.
private final class Teller: Sendable {
  private struct Engine: Carrier {
    let events: [CarrierEvent]
    let payloadLimit = 1 << 20
    func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) {
      DispatchQueue(label: "Teller").async { for event in self.events { receive(event) } }
    }
    func subscribe(to subject: String) {}
    func unsubscribe(from subject: String) {}
    func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {}
    func close() async {}
  }

  let carriage: Carriage
  private let center = MulticastCenter(carrying: .carriage)
  private let heard = NIOLockedValueBox<[CarriageReport]>([])

  init(_ events: [CarrierEvent]) {
    carriage = Carriage(
      center: center, carrier: Engine(events: events), name: "one",
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    center.observe(.carriage, owner: self) { site, report in
      site.heard.withLockedValue { $0.append(report) }
    }
  }

  var reports: [CarriageReport] { heard.withLockedValue { $0 } }

  func run(_ body: (Teller) async throws -> Void) async throws {
    let task = Task { [carriage] in await carriage.run() }
    try await body(self)
    task.cancel()
    await task.value
  }
}

/// A codec whose bytes are no JSON.
private struct NumberCodec: MessageCodec {
  struct Unreadable: Error {}

  func encode(_ note: Note, into bytes: inout ByteBuffer) { bytes.writeInteger(note.number) }

  func decode(_ bytes: ByteBuffer) throws -> Note {
    guard bytes.readableBytes == 8,
      let number = bytes.getInteger(at: bytes.readerIndex, as: Int.self)
    else { throw Unreadable() }
    return Note(number: number)
  }
}

/// A carrier that waits at a gate before each payload of a topic.
private final class Stalled: Carrier {
  private let carrier: InMemoryCarrier
  private let gate: DispatchSemaphore

  init(hub: InMemoryCarrier.Hub, gate: DispatchSemaphore) {
    carrier = InMemoryCarrier(hub: hub)
    self.gate = gate
  }

  var payloadLimit: Int { carrier.payloadLimit }
  func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { carrier.open(receive) }
  func subscribe(to subject: String) { carrier.subscribe(to: subject) }
  func unsubscribe(from subject: String) { carrier.unsubscribe(from: subject) }
  func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    if subject.contains("topic") { gate.wait() }
    try carrier.publish(payload, to: subject)
  }
  func close() async { await carrier.close() }
}

/// A carrier whose store answers when it is told to.
private final class StalledStore: ReplayingCarrier {
  let readings = NIOLockedValueBox<[CheckedContinuation<Void, Never>]>([])
  let hasAnswered = NIOLockedValueBox(false)
  private let carrier = InMemoryCarrier()

  var payloadLimit: Int { carrier.payloadLimit }
  func open(_ receive: @escaping @Sendable (CarrierEvent) -> Void) { carrier.open(receive) }
  func subscribe(to subject: String) { carrier.subscribe(to: subject) }
  func unsubscribe(from subject: String) { carrier.unsubscribe(from: subject) }
  func publish(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try carrier.publish(payload, to: subject)
  }
  func store(_ payload: ByteBuffer, to subject: String) throws(CarrierError) {
    try carrier.publish(payload, to: subject)
  }
  func stored(
    _ subject: String, after position: StoredPosition?
  ) async throws -> StoredPayloads {
    await withCheckedContinuation { reading in readings.withLockedValue { $0.append(reading) } }
    hasAnswered.withLockedValue { $0 = true }
    return StoredPayloads([], end: .init(epoch: "one", offset: "0"), hasMore: false)
  }
  /// Tells of no end: its own is none of the engine's.
  func close() async {}
}

private struct CountingCodec: MessageCodec {
  let decoded: NIOLockedValueBox<Int>
  func encode(_ message: Note, into bytes: inout ByteBuffer) throws {
    try JSONCodec<Note>().encode(message, into: &bytes)
  }
  func decode(_ bytes: ByteBuffer) throws -> Note {
    decoded.withLockedValue { $0 += 1 }
    return try JSONCodec<Note>().decode(bytes)
  }
}
