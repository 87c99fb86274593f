import Dispatch
import TestSupport
import Testing

@testable import Multicast

#if DEBUG
  private protocol ScreenProtocol {}
  private protocol OtherProtocol {}
  private final class HintedScreen: ScreenProtocol {}

  private protocol BaseProtocol {}
  private protocol MiddleProtocol: AnyObject, Sendable, BaseProtocol {
    associatedtype Element
  }
  private final class BaseScreen: BaseProtocol {}
  private protocol DerivedProtocol: OtherProtocol, MiddleProtocol {}
  private final class DerivedScreen: DerivedProtocol, ScreenProtocol { typealias Element = Int }

  extension MulticastCenter {
    /// Notifies from a call site of its own. The calls in an exit test have one call site, and not each of them is examined.
    fileprivate func notifyHinted<Listener>(_ listener: Listener.Type, line: Int) {
      notify(listener, fileID: "App/A.swift", line: line, column: 2) { _ in }
    }

    fileprivate func postHinted<Message>(_ topic: Topic<Message>, _ message: Message, line: Int = 1)
    {
      post(topic, message, fileID: "App/Types.swift", line: line, column: 2)
    }
  }

  extension MulticastCenter {
    fileprivate func observeNamed<Message>(_ topic: Topic<Message>, _ owner: Owner) {
      observe(topic, owner: owner, fileID: "App/A.swift", line: 3, column: 4) { _, _ in }
    }

    @discardableResult
    fileprivate func observeHinted(
      _ topic: Topic<Login>, owner: Owner, line: Int, column: Int = 7, id: Int? = nil,
      once: Bool = false, newestOnly: Bool = false
    ) -> TopicObservation {
      observe(
        topic, owner: owner, id: id, once: once, newestOnly: newestOnly,
        fileID: "App/Screen.swift", line: line, column: column
      ) { _, _ in }
    }
  }

  /// An actor that counts how often its executor is asked for.
  private actor AskedActor {
    private let asked = Atomic<Int>(0)

    nonisolated var questions: Int { asked.load(ordering: .relaxed) }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
      asked.wrappingAdd(1, ordering: .relaxed)
      return MainActor.sharedUnownedExecutor
    }

    func addClient(to center: MulticastCenter) {
      center.add(kept(HintedScreen()), for: HintedScreen.self)
    }
  }

  /// The messages of a debug build about deliveries that reach no listener, and about handlers registered by mistake.
  @Suite struct HintTests {
    @Test func aClientAddedForItsClassIsReportedWhenItsProtocolIsCalled() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, screen) = (MulticastCenter(), HintedScreen())
        center.add(screen, for: HintedScreen.self)
        for _ in 0..<2 {
          center.notifyHinted(ScreenProtocol.self, line: 1)
          center.post(ScreenProtocol.self, fileID: "App/B.swift", line: 3, column: 4) { _ in }
          center.notifyHinted(OtherProtocol.self, line: 5)
          center.notifyHinted(HintedScreen.self, line: 6)
        }
        center.add(screen, for: ScreenProtocol.self)
        center.notifyHinted(ScreenProtocol.self, line: 7)
      }
      let messages = ["A.swift:1:2", "B.swift:3:4"].map { place in
        """
        Multicast: no client is registered for ScreenProtocol, called at App/\(place), but HintedScreen was added for the class \
        HintedScreen. A client is called for exactly the keys for which it is added: add(client, for: ScreenProtocol.self).

        """
      }
      #expect(text(result) == messages.joined())
    }

    /// Counts how often a debug build asks a client's home, which it does for each call without clients that it examines.
    @Test func callsWithoutClientsAreExaminedUntilTheirMessageIsPrinted() async {
      await #expect(processExitsWith: .success) {
        let (center, home, screen) = (MulticastCenter(), AskedActor(), HintedScreen())
        await home.addClient(to: center)
        func notify() {
          center.notify(ScreenProtocol.self, fileID: "App/A.swift", line: 1, column: 2) { _ in }
        }
        let start = home.questions
        notify()
        let afterOne = home.questions
        precondition(afterOne > start)
        center.add(screen, for: HintedScreen.self)
        notify()
        let afterMessage = home.questions
        precondition(afterMessage > afterOne)
        notify()
        precondition(home.questions == afterMessage)
      }
    }

    /// A program may rightly make many calls without clients.
    @Test func fewCallsOfOneCallSiteAreExamined() async {
      await #expect(processExitsWith: .success) {
        let (center, home) = (MulticastCenter(), AskedActor())
        await home.addClient(to: center)
        let start = home.questions
        for _ in 0..<1_000 {
          center.notify(OtherProtocol.self, fileID: "App/A.swift", line: 1, column: 2) { _ in }
        }
        // The 1st, 2nd, 4th, … and 512th call.
        precondition(home.questions - start == 10)
      }
    }

    @Test func aClientOfABaseOrDerivedProtocolIsReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (base, derived) = (MulticastCenter(), MulticastCenter())
        let screen = DerivedScreen()
        derived.add(screen, for: (any DerivedProtocol).self, on: nil)
        base.add(screen, for: BaseProtocol.self, on: nil)
        for _ in 0..<2 {
          derived.notifyHinted(BaseProtocol.self, line: 1)
          base.notifyHinted((any DerivedProtocol).self, line: 2)
          _ = base.map((any MiddleProtocol).self, fileID: "App/A.swift", line: 3, column: 2) { _ in
          }
          // It conforms to this protocol, which has nothing to do with the others.
          base.notifyHinted(ScreenProtocol.self, line: 4)
          derived.notifyHinted(ScreenProtocol.self, line: 5)
          // These keys are not one protocol.
          derived.notifyHinted((BaseProtocol & ScreenProtocol).self, line: 6)
          derived.notifyHinted(Int.self, line: 7)
        }
        // The client of the base protocol does not conform to the derived one.
        let (other, baseScreen) = (MulticastCenter(), BaseScreen())
        other.add(baseScreen, for: BaseProtocol.self, on: nil)
        other.notifyHinted((any DerivedProtocol).self, line: 8)
        // A client that has left one of its protocols has done so on purpose.
        let left = MulticastCenter()
        left.add(screen, for: BaseProtocol.self, on: nil)
        left.add(screen, for: (any DerivedProtocol).self, on: nil)
        left.remove(screen, for: BaseProtocol.self)
        left.notifyHinted(BaseProtocol.self, line: 9)
        extendLifetime((screen, baseScreen))
      }
      let messages = [
        (1, "BaseProtocol", "DerivedProtocol, which inherits from it"),
        (2, "DerivedProtocol", "BaseProtocol, from which it inherits"),
        (3, "MiddleProtocol", "BaseProtocol, from which it inherits"),
      ].map { line, called, relation in
        """
        Multicast: no client is registered for \(called), called at App/A.swift:\(line):2, but DerivedScreen was added for \
        \(relation). A client is called for exactly the keys for which it is added: add(client, for: \(called).self).

        """
      }
      #expect(text(result) == messages.joined())
    }

    @Test func everyWayToCallIsExamined() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, worker) = (MulticastCenter(), Worker())
        center.add(worker, for: Worker.self)
        let (called, file) = (WorkerProtocol.self, "App/A.swift" as StaticString)
        center.notify(called, fileID: file, line: 1, column: 1) { _ in }
        _ = center.map(called, fileID: file, line: 2, column: 1) { _ in }
        await center.notify(called, fileID: file, line: 3, column: 1, awaiting: { _ in })
        _ = await center.map(called, fileID: file, line: 4, column: 1, awaiting: { _ in })
        center.post(called, fileID: file, line: 5, column: 1) { _ in }
        center.postOnMain(called, fileID: file, line: 6, column: 1) { _ in }
        center.post(called, fileID: file, line: 7, column: 1, awaiting: { _ in })
        extendLifetime(worker)
      }
      let lines = text(result).split(separator: "\n").map { line in
        line.dropFirst("Multicast: no client is registered for WorkerProtocol, called at ".count)
          .prefix(while: { $0 != "," })
      }
      #expect(lines == (1...7).map { "App/A.swift:\($0):1" })
    }

    // MARK: - Two centers

    @Test(arguments: [true, false])
    func aCallThroughACenterThatIsNotInUseIsReportedIfTheOtherOneHasListeners(isDefault: Bool)
      async
    {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        [isDefault] in
        let (screen, owner, own) = (HintedScreen(), Owner(), MulticastCenter())
        let unused = isDefault ? MulticastCenter.default : own
        let used = isDefault ? own : MulticastCenter.default
        func call(line: Int) {
          unused.notify(ScreenProtocol.self, fileID: "App/A.swift", line: line, column: 2) { _ in }
          unused.post(Topic<Int>("speed"), 1, fileID: "App/B.swift", line: line, column: 2)
        }
        call(line: 1)
        used.add(screen, for: ScreenProtocol.self, on: nil)
        used.observe(Topic<Int>("speed"), owner: owner) { _, _ in }
        unused.notifyHinted(OtherProtocol.self, line: 2)
        for _ in 0..<2 { call(line: 1) }
        // A message that waits for its first handler is not unheard.
        let level = Topic<Int>("level", keepsLatest: true)
        used.observe(level, owner: owner) { _, _ in }
        unused.postHinted(level, 1)
        extendLifetime((screen, owner))
      }
      let name = isDefault ? "MulticastCenter.default" : "a center of its own"
      let messages = [
        ("client is registered for ScreenProtocol, called at App/A", "HintedScreen"),
        (#"handler observes Topic<Int>("speed"), posted at App/B"#, "Owner"),
      ].map { what, type in
        """
        Multicast: no \(what).swift:1:2. The call used \(name), with which nothing was ever registered. \(type) is registered \
        with another center. Register and call with the same center.

        """
      }
      #expect(text(result) == messages.joined())
    }

    /// A program may use several centers, and call one whose listeners are not there yet.
    @Test(arguments: ["two of its own", "three", "in use"])
    func centersOfTheirOwnAreNotReported(program: String) async {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [program] in
        let (screen, one) = (HintedScreen(), MulticastCenter())
        var called = MulticastCenter.default
        if program == "two of its own" { called = MulticastCenter() }
        if program == "three" { _ = MulticastCenter() }
        if program == "in use" { called.observe(Topic<Int>(), owner: kept(Owner())) { _, _ in } }
        one.add(screen, for: ScreenProtocol.self, on: nil)
        called.notify(ScreenProtocol.self) { _ in }
        extendLifetime((screen, one))
      }
      #expect(text(result) == "")
    }

    // MARK: - Similar names

    @Test(arguments: [
      ("Speed", "speed"), ("userlogin", "userLogin"), ("X", "x"),
      ("spead", "speed"), ("sped", "speed"), ("speeed", "speed"), ("sepeed", "speed"),
      ("userLgoin", "userLogin"), ("user-lgin", "user-login"),
    ])
    func aMisspelledNameIsFound(one: String, other: String) {
      #expect(one.isMisspelling(of: other))
      #expect(other.isMisspelling(of: one))
    }

    @Test(arguments: [
      ("speed", "speed"), ("user", "users"), ("row1", "row2"), ("sensor1b", "sensor2b"),
      ("axisX", "axisY"), ("sensorALeft", "sensorBLeft"), ("row_a_size", "row_b_size"), ("", "a"),
      ("left", "lift"), ("speed", "spede"), ("sensoraLeft", "sensorbLeft"), ("login", "logout"),
      ("opened", "closed"), ("xaxis", "yaxis"),
    ])
    func aNameOfItsOwnIsNotAMisspelling(one: String, other: String) {
      #expect(!one.isMisspelling(of: other))
      #expect(!other.isMisspelling(of: one))
    }

    @Test func aTopicWithASimilarNameIsReportedIfItHasOnlyHandlers() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner) = (MulticastCenter(), Owner())
        center.observeNamed(Topic<Int>(), owner)
        center.observeNamed(Topic<Int>("speed"), owner)
        center.observeNamed(Topic<Double>("parsed"), owner)
        for _ in 0..<2 {
          center.post(Topic<Int>("Speed"), 1, fileID: "App/B.swift", line: 1, column: 2)
          // Another message type, and a topic that has a sender.
          center.postHinted(Topic<Double>("Speed"), 1, line: 2)
          center.postHinted(Topic<Double>("parsed"), 1, line: 3)
          center.postHinted(Topic<Double>("passed"), 1, line: 4)
        }
        center.observeNamed(Topic<Int>("Speed"), owner)
        center.postHinted(Topic<Int>("Speed"), 1, line: 5)
        extendLifetime(owner)
      }
      #expect(
        text(result) == """
          Multicast: no handler observes Topic<Int>("Speed"), posted at App/B.swift:1:2, but Topic<Int>("speed"), first \
          used at App/A.swift:3:4, is observed. If they are the same topic, declare it once.

          """)
    }

    @Test(arguments: [false, true])
    func aHandlerOfATopicWithTheSameNameAndAnotherMessageTypeIsReported(keepsLatest: Bool)
      async
    {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [keepsLatest] in
        let (center, owner) = (MulticastCenter(), Owner())
        center.postHinted(Topic("speed", keepsLatest: keepsLatest), 1.5)
        center.observe(
          Topic<Int>("speed"), owner: owner, fileID: "App/A.swift", line: 3, column: 4
        ) { _, _ in }
        center.observe(Topic<Int>(), owner: owner) { _, _ in }
        for _ in 0..<2 { center.postHinted(Topic("speed", keepsLatest: keepsLatest), 1.5) }
        center.postHinted(Topic("speed"), 1)
        center.postHinted(Topic(), 1.5)
        // As if the handler had been added while a post looked for topics with the same name.
        let site = CallSite(fileID: "App/A.swift", line: 5, column: 6)
        center.hintAtUnobserved(Topic<Int>("speed"), from: site)
        extendLifetime(owner)
      }
      let topic = keepsLatest ? #""speed", keepsLatest: true"# : #""speed""#
      #expect(
        text(result) == """
          Multicast: no handler observes Topic<Double>(\(topic)), posted at App/Types.swift:1:2, but Topic<Int>("speed"), \
          first used at App/A.swift:3:4, is observed. If they are the same topic, declare it once.

          """)
    }

    @Test func anOwnerThatObservesAgainFromOneLineWithoutAnIDIsReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner) = (MulticastCenter(), Owner())
        for _ in 0..<3 { center.observeHinted(.login, owner: owner, line: 1) }
        for _ in 0..<2 { center.observeHinted(.login, owner: owner, line: 2) }
        extendLifetime(owner)
      }
      let messages = (1...2).map { line in
        """
        Multicast: Owner observes \(Topic<Login>.login) twice, because observe was called again at App/Screen.swift:\(line):7 \
        without an id. Each message now calls both handlers. Observe once, as in init, or pass an id, so that the second \
        handler replaces the first: observe(topic, owner: self, id: "…").

        """
      }
      #expect(text(result) == messages.joined())
    }

    /// Each of these registrations is correct, so no message is printed.
    @Test func correctRegistrationsAreNotReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner, other) = (MulticastCenter(), Owner(), Owner())
        // Another owner, topic, center, line or column, or an id.
        for owner in [owner, other] { center.observeHinted(.login, owner: owner, line: 1) }
        center.observeHinted(Topic<Login>("other"), owner: owner, line: 1)
        MulticastCenter().observeHinted(.login, owner: owner, line: 1)
        center.observeHinted(.login, owner: owner, line: 2)
        center.observeHinted(.login, owner: owner, line: 1, column: 8)
        for id in [1, 1, 2] { center.observeHinted(.login, owner: owner, line: 3, id: id) }
        // A handler that was cancelled or removed, or that receives one message.
        for _ in 0..<2 { center.observeHinted(.login, owner: owner, line: 4).cancel() }
        for _ in 0..<2 {
          center.removeHandlers(of: .login, owner: owner)
          center.observeHinted(.login, owner: owner, line: 5)
        }
        for _ in 0..<2 { center.observeHinted(.login, owner: owner, line: 6, once: true) }
        // Another home.
        for queue in [DispatchQueue.main, DispatchQueue(label: "")] {
          center.observe(.login, owner: owner, on: queue) { _, _ in }
        }
        // Owners that are deallocated, whose addresses the next ones may have.
        for _ in 0..<10 { center.observeHinted(.login, owner: Owner(), line: 7) }
        _ = (0..<2).map { _ in center.messages(of: .login) }
        extendLifetime((owner, other))
      }
      #expect(text(result) == "")
    }

    @Test func aStreamWithoutALimitIsReportedOnceWhenManyMessagesAreUnread() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, topic) = (MulticastCenter(), Topic<Int>("number"))
        func messages(
          line: Int, _ policy: AsyncStream<Int>.Continuation.BufferingPolicy = .unbounded
        ) -> AsyncStream<Int> {
          kept(
            center.messages(
              of: topic, buffering: policy, fileID: "App/Loop.swift", line: line, column: 3))
        }
        let stream = messages(line: 1)
        _ = messages(line: 2, .bufferingNewest(100_000))
        for number in 1..<10_000 { center.post(topic, number) }
        _ = messages(line: 3)
        StandardError.print("9999")
        center.post(topic, 0)
        StandardError.print("10000")
        // The loop takes some of them, and falls back again.
        var loop = stream.makeAsyncIterator()
        for _ in 0..<5_000 { _ = await loop.next() }
        for number in 1..<10_000 { center.post(topic, number) }
      }
      let messages = [1, 3].map { line in
        """
        Multicast: 10000 messages are unread in the stream of Topic<Int>("number"), made at App/Loop.swift:\(line):3. Its \
        loop may have ended or be too slow. Release the stream to end it, or limit what it keeps: messages(of: …, buffering: \
        .bufferingNewest(100)).

        """
      }
      #expect(text(result) == "9999\n\(messages[0])10000\n\(messages[1])")
    }

    @Test func newestOnlyIsReportedForATopicThatDoesNotKeepItsLatestMessage() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, owner) = (MulticastCenter(), Owner())
        let kept = Topic<Login>("kept", keepsLatest: true)
        for id in 1...2 {
          center.observeHinted(.login, owner: owner, line: 1, id: id, newestOnly: true)
        }
        center.observeHinted(kept, owner: owner, line: 2, newestOnly: true)
        extendLifetime(owner)
      }
      #expect(
        text(result) == """
          Multicast: newestOnly: true, passed at App/Screen.swift:1:7, has no effect, because \(Topic<Login>.login) does not \
          keep its latest message. Make the topic with keepsLatest: true, or leave newestOnly out.

          """)
    }
  }
#endif
