import Dispatch
import Foundation
import Multicast
import TestSupport
import Testing

private protocol UserProtocol {}
private protocol NobodyProtocol {}
private protocol Sink<Element> {
  associatedtype Element
}

private final class ProfileScreen: UserProtocol {}
private final class Badge: UserProtocol, Sink {
  typealias Element = Int
}

private final class AuditLog: UserProtocol, Sendable {}
private final class `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`: UserProtocol, Sendable {}

private struct Mail: Sendable {}

private actor Store: UserProtocol {
  private var logins: [Login] = []

  nonisolated func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self) { store, login in await store.add(login) }
  }

  func observeInside(_ center: MulticastCenter) {
    center.observe(Topic<Login>("inside"), owner: self) { _, login in self.logins.append(login) }
  }

  private func add(_ login: Login) { logins.append(login) }
}

/// A client whose calls return when the test lets them.
private final class WaitingWorker: WorkerProtocol {
  private let work: @Sendable () async -> Void
  init(_ work: @escaping @Sendable () async -> Void) { self.work = work }
  func workSlowly(_ number: Int) async { await work() }
}

/// The wiring of a center: its clients and handlers, and the homes in which letters wait.
@Suite struct WiringTests {
  let owner = kept(Owner())
  let center = MulticastCenter()

  private var clients: [String] {
    center.wiring.protocols.flatMap { $0.listeners.map { "\($0.count) \($0.type)" } }
  }

  private var observers: [String] {
    center.wiring.topics.flatMap {
      $0.listeners.map { "\($0.count) \($0.type) \($0.id ?? "-") \($0.home)" }
    }
  }

  // MARK: - Protocols

  @Test func onlyTheDeliveriesOfATracedCenterPutAProtocolWithoutClientsIntoTheWiring() {
    let center = MulticastCenter(onDelivery: { _ in })
    let badge = kept(Badge())
    #expect(!center.contains(badge, for: UserProtocol.self))
    #expect(!center.remove(badge, for: UserProtocol.self))
    center.removeAll(for: UserProtocol.self)
    #expect(center.wiring.protocols.isEmpty)
    center.notify(UserProtocol.self) { _ in }
    #expect(center.wiring.protocols.map(\.count) == [0])
  }

  @Test func neighboringClientsOfOneTypeAreAGroupAndKeepTheirOrder() {
    // A notify does not put a protocol without clients into the wiring.
    center.notify(UserProtocol.self) { _ in }
    #expect(center.wiring.protocols.isEmpty && center.wiring.topics.isEmpty)
    #expect(center.wiring == MulticastCenter().wiring)
    let all: [any UserProtocol] = [Badge(), Badge(), ProfileScreen(), Badge()]
    defer { extendLifetime(all) }
    for client in all { center.add(client, for: UserProtocol.self) }
    #expect(clients == ["2 Badge", "1 ProfileScreen", "1 Badge"])
    #expect(center.wiring.protocols.map(\.count) == [4])
  }

  @Test func protocolsAreListedInTheOrderOfTheirFirstUse() {
    let badge = kept(Badge())
    center.add(badge, for: (any Sink<Int>).self)
    center.add(badge, for: (UserProtocol & AnyObject).self)
    center.add(badge, for: Badge.self)

    // The first name is the one that the runtime prints.
    let sink = String(describing: (any Sink<Int>).self)
    #expect(center.wiring.protocols.map(\.name) == [sink, "UserProtocol & AnyObject", "Badge"])
    #expect(clients == ["1 Badge", "1 Badge", "1 Badge"])
  }

  @Test func deallocatedAndRemovedClientsAreNotListed() {
    let removed = kept(Badge())
    var screen = Optional(ProfileScreen())
    weak var reference: ProfileScreen?
    reference = screen
    center.add(Badge(), for: UserProtocol.self)
    center.add(removed, for: UserProtocol.self)
    center.add(screen!, for: UserProtocol.self)
    center.remove(removed, for: UserProtocol.self)
    #expect(clients == ["1 ProfileScreen"])
    // A wiring does not retain clients, and a protocol without clients is still listed.
    let wiring = center.wiring
    screen = nil
    #expect(reference == nil)
    #expect(wiring.protocols.map(\.count) == [1])
    #expect(wiring != center.wiring)
    #expect(center.wiring.protocols.map(\.name) == ["UserProtocol"])
    #expect(center.wiring.protocols.map(\.count) == [0])
  }

  // MARK: - Topics

  @Test func handlersAreListedWithTheirOwnersIDsAndHomes() async {
    let store = kept(Store())
    let screen = kept(await MainActor.run { Screen() })
    center.observe(.login, owner: owner) { _, _ in }
    center.observe(.login, owner: owner, id: "queue", on: DispatchQueue(label: "disk")) { _, _ in }
    await MainActor.run {
      _ = center.observe(.login, owner: screen, id: 7) { screen, login in
        screen.shown.append(login.id)
      }
      _ = center.observe(.login, owner: screen) { screen, login in
        await Task.yield()
        screen.shown.append(login.id)
      }
    }
    store.observe(center)
    await store.observeInside(center)
    #expect(
      observers == [
        "1 Store - Store",
        "1 Owner - posting thread", "1 Owner queue queue disk", "1 Screen 7 MainActor",
        "1 Screen - task in MainActor", "1 Store - task",
      ])
    #expect(
      center.wiring.topics.map(\.name) == [
        #"Topic<Login>("inside")"#, #"Topic<Login>("login")"#,
      ])
    #expect(center.wiring.topics.map(\.count) == [1, 5])
  }

  @Test func topicsAreListedInTheOrderOfTheirMessageTypesAndNames() {
    let owners = kept((0..<5).map { _ in Owner() })
    for owner in owners {
      center.observe(Topic<Login>("b"), owner: owner) { _, _ in }
    }
    center.observe(Topic<Login>("b"), owner: owners[0], id: "second") { _, _ in }
    // Neighboring handlers that are equal in all listed properties form a group.
    #expect(observers == ["5 Owner - posting thread", "1 Owner second posting thread"])
    for name in ["c", "", "a"] {
      center.observe(Topic<Login>(name), owner: owner) { _, _ in }
    }
    center.observe(Topic<Int>("a"), owner: owner) { _, _ in }
    #expect(
      center.wiring.topics.map(\.name) == [
        "Topic<Login>()", #"Topic<Login>("a")"#, #"Topic<Login>("b")"#, #"Topic<Login>("c")"#,
        #"Topic<Int>("a")"#,
      ])
  }

  @Test func removedHandlersAndTheirTopicsAreNotListed() {
    let counts = Numbers()
    center.observe(Topic<Login>("ended"), owner: Owner()) { _, _ in }
    center.observe(Topic<Login>("cancelled"), owner: owner) { _, _ in }.cancel()
    center.observe(Topic<Login>("once"), owner: owner, once: true) { [center] _, _ in
      counts.add(center.wiring.topics.count)
    }
    center.post(Topic<Login>("once"), Login(id: 1))
    #expect(counts.all == [0])
  }

  @Test func aLoopOverMessagesIsListedAsAnObserver() {
    _ = kept(center.messages(of: .login))
    #expect(observers == ["1 AsyncStream<Login> - posting thread"])
  }

  @Test func aDebugBuildListsTheCallSiteOfEachHandler() {
    for line in [7, 7, 8] {
      center.observe(.login, owner: owner, fileID: "App/Log.swift", line: line, column: 9) { _, _ in
      }
    }
    _ = kept(center.messages(of: .login, fileID: "App/Loop.swift", line: 1, column: 2))
    #if DEBUG
      let sites = center.wiring.topics.flatMap(\.listeners).map { "\($0.count) \($0.site!)" }
      #expect(sites == ["2 App/Log.swift:7:9", "1 App/Log.swift:8:9", "1 App/Loop.swift:1:2"])
      #expect("\(center.wiring)".contains(", × 2, App/Log.swift:7:9\n"))
    #else
      #expect(observers == ["3 Owner - posting thread", "1 AsyncStream<Login> - posting thread"])
      #expect(center.wiring.topics.flatMap(\.listeners).allSatisfy { $0.site == nil })
    #endif
  }

  /// The count of each stream is that of the latest message.
  @Test func unreadAndDroppedMessagesOfStreamsAreListed() async {
    let topic = Topic<Int>("number")
    func messages() -> [[Int?]] {
      center.wiring.topics.flatMap(\.listeners).flatMap { group in
        Array(repeating: [group.unread, group.dropped], count: group.count)
      }
    }
    let stream = kept(center.messages(of: topic))
    for limit in [2, 0, -1] {
      _ = kept(center.messages(of: topic, buffering: .bufferingNewest(limit)))
    }
    _ = kept(center.messages(of: topic, buffering: .bufferingOldest(2)))
    center.observe(topic, owner: owner) { _, _ in }
    #expect(messages() == Array(repeating: [0, 0], count: 5) + [[nil, nil]])
    for number in 1...3 { center.post(topic, number) }
    #expect(messages() == [[3, 0], [2, 1], [0, 3], [0, 3], [2, 1], [nil, nil]])
    #expect("\(center.wiring)".contains("AsyncStream<Int>, posting thread, 3 unread"))
    #expect("\(center.wiring)".contains("AsyncStream<Int>, posting thread, 2 unread, 1 dropped"))
    #expect(center.wiring.mermaid.contains("posting thread · 2 unread · 1 dropped"))
    var loop = stream.makeAsyncIterator()
    for number in 1...3 { #expect(await loop.next() == number) }
    center.post(topic, 4)
    #expect(messages().first == [1, 0])
  }

  @Test func aStreamKeepsAndDropsTheMessagesOfItsPolicy() async {
    let topic = Topic<Int>("number")
    let policies: [AsyncStream<Int>.Continuation.BufferingPolicy] = [
      .unbounded, .bufferingNewest(2), .bufferingOldest(2), .bufferingNewest(0),
    ]
    let streams = policies.map { center.messages(of: topic, buffering: $0) }
    for number in 1...4 { center.post(topic, number) }
    center.removeHandlers(of: topic)
    var received: [[Int]] = []
    for stream in streams { received.append(await stream.reduce(into: []) { $0.append($1) }) }
    #expect(received == [[1, 2, 3, 4], [3, 4], [1, 2], []])
  }

  // MARK: - Waiting letters

  private var waiting: [String] { center.wiring.waiting.map { "\($0.letters) in \($0.home)" } }

  @Test func lettersOfAwaitingPostsAreListedAsWaiting() async {
    let (began, goOn) = (Signal(), Signal())
    let worker = kept(
      WaitingWorker {
        began.send()
        await goOn.wait()
      })
    center.add(worker, for: WorkerProtocol.self)
    for number in 0..<5 {
      center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(number) })
    }
    await began.wait()
    #expect(waiting == ["5 in task"])
    goOn.send()
    await center.settled()
    #expect(waiting == [])
  }

  @Test @MainActor func lettersOfPostOnMainAreListedAsWaitingForTheMainActor() async {
    let worker = kept(Worker())
    center.add(worker, for: WorkerProtocol.self)
    onNewThread { [center] in
      for number in 0..<3 { center.postOnMain(WorkerProtocol.self) { $0.work(number) } }
    }
    #expect(waiting == ["3 in MainActor"])
    await center.settled()
    #expect(waiting == [])
  }

  /// The time that a letter has waited is another one in each snapshot.
  @Test func snapshotsOfTheSameWaitingLettersAreEqual() async {
    let center = MulticastCenter(onDelivery: { _ in })
    let testHome = TestHome("stuck")
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
    testHome.queue.suspend()
    center.post(.login, Login(id: 1))
    let (one, other) = (center.wiring, center.wiring)
    #expect(one == other && Set([one, other]).count == 1)
    #expect(one.waiting[0].nanoseconds != nil)
    testHome.queue.resume()
    await center.settled()
    #expect(center.wiring != one)
  }

  @Test func lettersAreListedAsWaitingAfterTheirListenersAreRemoved() async {
    let testHome = TestHome("stuck")
    center.observe(.login, owner: owner, on: testHome.queue) { _, _ in }
    testHome.queue.suspend()
    for id in 0..<2 { center.post(.login, Login(id: id)) }
    center.removeHandlers(of: .login)
    #expect(waiting == ["2 in queue stuck"])
    #expect("\(center)".hasPrefix("MulticastCenter\n  waiting in queue stuck: 2 letters"))
    testHome.queue.resume()
    await center.settled()
    #expect(waiting == [])
  }

  @Test func lettersOfAnAwaitingHandlerAreListedAsWaitingAfterItIsRemoved() async {
    let (began, goOn) = (Signal(), Signal())
    center.observe(.login, owner: owner) { _, _ in
      began.send()
      await goOn.wait()
    }
    for id in 0..<3 { center.post(.login, Login(id: id)) }
    await began.wait()
    center.removeHandlers(of: .login)
    #expect(waiting == ["3 in task"])
    goOn.send()
    await center.settled()
    #expect(waiting == [])
  }

  @Test func lettersForAHandlerWithoutAHomeAreListedAsWaitingForTheThreadThatCallsIt() async {
    let topic = Topic<Int>("level", keepsLatest: true)
    let (began, goOn) = (Signal(), Signal())
    center.observe(topic, owner: owner) { _, number in
      if number > 0 { return }
      began.send()
      goOn.wait()
    }
    let poster = DispatchQueue(label: "poster")
    poster.async { [center] in center.post(topic, 0) }
    await began.wait()
    for number in 1...2 { center.post(topic, number) }
    #expect(waiting == ["2 in posting thread"])
    goOn.send()
    await center.settled()
    #expect(waiting == [])
  }

  /// A message is released in the home that handles it or on the posting thread, and never on a thread that reads the wiring.
  @Test func noMessageIsReleasedOnAThreadThatReadsTheWiring() async {
    let testHome = TestHome("home")
    let (isOver, ends, reader) = (Atomic<Bool>(false), Atomic<Int>(0), Atomic<UInt>(0))
    center.observe(Topic<Sentinel>(), owner: owner, on: testHome.queue) { _, _ in }
    // A thread of its own: `onThreads` may run both parts on one thread, one after the other.
    let (isReading, hasRead) = (Signal(), Signal())
    DispatchQueue(label: "reader").async { [center] in
      reader.store(Process.currentThread, ordering: .releasing)
      isReading.send()
      while !isOver.load(ordering: .acquiring) { _ = center.wiring }
      hasRead.send()
    }
    await isReading.wait()
    for _ in 0..<Process.rounds(200, quick: 50) {
      for _ in 0..<200 {
        center.post(
          Topic<Sentinel>(),
          Sentinel {
            if Process.currentThread == reader.load(ordering: .relaxed) {
              ends.wrappingAdd(1, ordering: .relaxed)
            }
          })
      }
      testHome.queue.sync {}
    }
    // Before the reader ends: afterwards, its thread may become that of the queue, and handle the letters that are left.
    await center.settled()
    isOver.store(true, ordering: .releasing)
    await hasRead.wait()
    #expect(ends.load(ordering: .relaxed) == 0)
  }

  // MARK: - Descriptions

  @Test func aCenterIsPrintedAsItsWiring() {
    #expect("\(center)" == "MulticastCenter: not in use")
    let badge = kept(Badge())
    center.add(badge, for: UserProtocol.self)
    #expect("\(center)" == "\(center.wiring)")
  }

  @Test func aDelegateIsPrintedWithItsProtocol() {
    let delegate = center[UserProtocol.self]
    #expect("\(delegate)" == "MulticastDelegate<UserProtocol>: no clients")
    let badge = kept(Badge())
    delegate.add(badge)
    #expect("\(delegate)" == "MulticastDelegate<UserProtocol>: 1 client")
  }

  // MARK: - Reading while the center changes

  @Test func anIDCanUseTheCenterInItsDescription() {
    // An id whose description uses the center, which is unusual but allowed.
    struct ID: Hashable, Sendable, CustomStringConvertible {
      let center: MulticastCenter
      static func == (one: ID, other: ID) -> Bool { true }
      func hash(into hasher: inout Hasher) {}

      var description: String {
        let owner = Owner()
        center.observe(.login, owner: owner, id: "nested") { _, _ in }
        center.removeHandlers(of: .login)
        return "\(center.wiring.topics.count) topics"
      }
    }
    center.observe(.login, owner: owner, id: ID(center: center)) { _, _ in }
    #expect(observers == ["1 Owner 0 topics posting thread"])
    #expect(center.wiring.topics.isEmpty)
  }

  @Test func theWiringCanBeReadWhileOtherThreadsChangeTheCenter() {
    onThreads(4) { thread in
      for _ in 0..<200 {
        let badge = Badge()
        let owner = Owner()
        center.add(badge, for: UserProtocol.self)
        center.observe(.login, owner: owner) { _, _ in }
        let wiring = center.wiring
        // Each thread has added one, and may retain that of another thread for a moment after it was removed.
        #expect((1...8).contains(wiring.protocols.map(\.count).reduce(0, +)))
        #expect((1...8).contains(wiring.topics.map(\.count).reduce(0, +)))
        extendLifetime((badge, owner))
      }
    }
    #expect(clients.isEmpty)
    #expect(observers.isEmpty)
  }
}

/// The text and the flowchart of a wiring.
@Suite struct WiringDescriptionTests {
  private let center = MulticastCenter()

  private func expect(
    text expectedText: String, flowchart: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let wiring = center.wiring
    // Only a debug build lists the call sites of handlers.
    let text = "\(wiring)\n".replacing(/, MulticastTests\/WiringTests.swift:[0-9:]+/, with: "")
    #expect(text == expectedText, sourceLocation: sourceLocation)
    #expect(wiring.mermaid == flowchart, sourceLocation: sourceLocation)
  }

  @Test func aCenterThatIsNotInUseIsDrawnEmpty() {
    expect(
      text: ##"""
        MulticastCenter: not in use

        """##,
      flowchart: ##"""
        flowchart LR

        """##)
  }

  @Test func aCenterIsDrawnWithItsListenersAndHomes() async {
    let clients: [any UserProtocol] = [ProfileScreen(), Badge(), Badge(), AuditLog()]
    let screen = await MainActor.run { Screen() }
    let log = AuditLog()
    let logs = (0..<2).map { _ in AuditLog() }
    defer { extendLifetime((clients, screen, log, logs)) }
    for client in clients { center.add(client, for: UserProtocol.self) }
    _ = center[(any NobodyProtocol).self]
    center.observe(Topic<Mail>("mail"), owner: log, id: "all") { _, _ in }
    await MainActor.run {
      _ = center.observe(Topic<Mail>("mail"), owner: screen) { screen, _ in screen.shown.append(1) }
    }
    for log in logs {
      center.observe(Topic<Mail>("mail"), owner: log, on: DispatchQueue(label: "disk")) { _, _ in }
    }
    center.observe(Topic<Mail>(), owner: log) { _, _ in await Task.yield() }
    expect(
      text: ##"""
        MulticastCenter
          UserProtocol: 4 clients
            ProfileScreen, posting thread
            Badge, posting thread, × 2
            AuditLog, posting thread
          NobodyProtocol: no clients
          Topic<Mail>(): 1 handler
            AuditLog, task
          Topic<Mail>("mail"): 4 handlers
            AuditLog, posting thread, id all
            Screen, MainActor
            AuditLog, queue disk, × 2

        """##,
      flowchart: ##"""
        flowchart LR
          protocol0{{"UserProtocol"}}
          type0["ProfileScreen"]
          type1["Badge"]
          type2["AuditLog"]
          protocol1{{"NobodyProtocol"}}
          topic0(["Topic#60;Mail#62;()"])
          topic1(["Topic#60;Mail#62;(#34;mail#34;)"])
          type3["Screen"]
          protocol0 -->|"posting thread"| type0
          protocol0 -->|"× 2 · posting thread"| type1
          protocol0 -->|"posting thread"| type2
          topic0 -->|"task"| type2
          topic1 -->|"posting thread · id all"| type2
          topic1 -->|"MainActor"| type3
          topic1 -->|"× 2 · queue disk"| type2

        """##)
  }

  @Test func oddNamesAreEscaped() {
    let odd = kept(`a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`())
    center.add(odd, for: UserProtocol.self)
    let names = [
      "quotes \" ' ` and \\ backslashes \\n",
      "lines\r\n\u{2028}\t\u{7} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0",
      "\"\u{301} combined",
      "<script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\\LaTeX$",
      "%%{init: {}}%%", "1. list", "",
    ]
    for name in names {
      center.observe(Topic<Mail>(name), owner: odd, id: name, on: DispatchQueue(label: name)) {
        _, _ in
      }
    }
    expect(
      text: ##"""
        MulticastCenter
          UserProtocol: 1 client
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, posting thread
          Topic<Mail>(): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue, id ""
          Topic<Mail>("\"\u{0301} combined"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue "́ combined, id "́ combined
          Topic<Mail>("%%{init: {}}%%"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue %%{init: {}}%%, id %%{init: {}}%%
          Topic<Mail>("1. list"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue 1. list, id 1. list
          Topic<Mail>("<script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\\LaTeX$"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue <script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\LaTeX$, id <script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\LaTeX$
          Topic<Mail>("lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ, id lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0
          Topic<Mail>("quotes \" \' ` and \\ backslashes \\n"): 1 handler
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue quotes " ' ` and \ backslashes \n, id quotes " ' ` and \ backslashes \n

        """##,
      flowchart: ##"""
        flowchart LR
          protocol0{{"UserProtocol"}}
          type0["#96;a #34;type#34; #91;with#93; #123;odd#125; #38; #60;b#62;#124;#59;#35;35#59;#37;#37; letters: é, 名前#96;"]
          topic0(["Topic#60;Mail#62;()"])
          topic1(["Topic#60;Mail#62;(#34;#92;#34;#92;u#123;0301#125; combined#34;)"])
          topic2(["Topic#60;Mail#62;(#34;#37;#37;#123;init: #123;#125;#125;#37;#37;#34;)"])
          topic3(["Topic#60;Mail#62;(#34;1. list#34;)"])
          topic4(["Topic#60;Mail#62;(#34;#60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;#92;LaTeX#36;#34;)"])
          topic5(["Topic#60;Mail#62;(#34;lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ#92;0#34;)"])
          topic6(["Topic#60;Mail#62;(#34;quotes #92;#34; #92;#39; #96; and #92;#92; backslashes #92;#92;n#34;)"])
          protocol0 -->|"posting thread"| type0
          topic0 -->|"queue · id #34;#34;"| type0
          topic1 -->|"queue #34;́ combined · id #34;́ combined"| type0
          topic2 -->|"queue #37;#37;#123;init: #123;#125;#125;#37;#37; · id #37;#37;#123;init: #123;#125;#125;#37;#37;"| type0
          topic3 -->|"queue 1. list · id 1. list"| type0
          topic4 -->|"queue #60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;LaTeX#36; · id #60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;LaTeX#36;"| type0
          topic5 -->|"queue lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ · id lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ#92;0"| type0
          topic6 -->|"queue quotes #34; #39; #96; and #92; backslashes #92;n · id quotes #34; #39; #96; and #92; backslashes #92;n"| type0

        """##)
  }
}
