import TestSupport
import Dispatch
import Multicast
import Synchronization
import Testing

private protocol AccountProtocol {
  func login(_ id: Int)
  func logout()
}

extension AccountProtocol {
  func login(_ id: Int) {}
  func logout() {}
}

/// A test for each line of the table in the article "Replacing other designs": five Objective-C
/// designs, what each of them offers, and how it is written here.
@Suite struct FiveDesignsTests {
  let center = MulticastCenter()
  let journal = Journal()

  // MARK: - 1. NotificationServiceCenter

  @Suite struct ProtocolsAsKeys {
    private final class Badge: AccountProtocol {
      var logins = 0
      func login(_ id: Int) { logins += 1 }
    }

    let center = MulticastCenter()

    @Test func clientsAreKeyedByProtocolAndMethodsAreOptional() {
      let badge = Badge()
      defer { extendLifetime(badge) }
      center.add(badge, for: AccountProtocol.self)
      #expect(center.notify(AccountProtocol.self) { $0.login(1) } == 1)
      // The badge does not implement this one.
      #expect(center.notify(AccountProtocol.self) { $0.logout() } == 1)
      #expect(badge.logins == 1)
    }

    @Test func aClientAddedTwiceIsCalledOnce() {
      let badge = Badge()
      defer { extendLifetime(badge) }
      center.add(badge, for: AccountProtocol.self)
      center.add(badge, for: AccountProtocol.self)
      center.notify(AccountProtocol.self) { $0.login(1) }
      #expect(badge.logins == 1)
    }

    @Test func aClientIsRemovedFromOneProtocolOrFromAll() {
      let badge = Badge()
      defer { extendLifetime(badge) }
      center.add(badge, for: AccountProtocol.self)
      center.add(badge, for: Badge.self)
      #expect(center.remove(badge, for: AccountProtocol.self))
      center.add(badge, for: AccountProtocol.self)
      #expect(center.remove(badge) == 2)
    }

    @Test func clientsAreWeak() {
      do {
        let badge = Badge()
        center.add(badge, for: AccountProtocol.self)
      }
      #expect(center.notify(AccountProtocol.self) { $0.login(1) } == 0)
    }

    @Test func oneCallReachesAllClients() {
      let badges = [Badge(), Badge()]
      for badge in badges { center.add(badge, for: AccountProtocol.self) }
      #expect(center.post(AccountProtocol.self) { $0.login(1) } == 2)
      #expect(center.notify(AccountProtocol.self) { $0.login(1) } == 2)
      #expect(badges.map(\.logins) == [2, 2])
    }

    @Test func aLoopIsRefused() {
      final class Looping: AccountProtocol {
        var again: () -> Int = { 0 }
        var results: [Int] = []
        func login(_ id: Int) { results.append(again()) }
      }
      let reports = Reports()
      let center = MulticastCenter(onRecursion: reports.handler)
      let client = Looping()
      center.add(client, for: AccountProtocol.self)
      func notify() -> Int { center.notify(AccountProtocol.self) { $0.login(1) } }
      client.again = notify
      #expect(notify() == 1)
      #expect(client.results == [0])
      #expect(reports.all.count == 1)
      client.again = { 0 }
    }
  }

  // MARK: - 2. CLActionManager

  /// Keys as an enumeration, for those who like them: a topic for each case.
  enum Action: String {
    case login
    case logout

    var topic: Topic<Login> { Topic("Action.\(rawValue)") }
  }

  @Test func enumKeysAndStringKeysNeverCollide() {
    let journal = journal
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Action.login.topic, owner: owner) { _, _ in journal.write("enum") }
    center.observe(Topic<Login>("login"), owner: owner) { _, _ in journal.write("string") }
    center.observe(Topic<String>("Action.login"), owner: owner) { _, _ in journal.write("type") }
    center.post(Action.login.topic, Login(id: 1))
    #expect(journal.read() == "enum")
    center.post(Topic("login"), Login(id: 1))
    #expect(journal.read() == "string")
  }

  @Test func thereIsOneHandlerForEachObserverAndKeyAndTheLastOneWins() {
    let journal = journal
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Action.login.topic, owner: owner, id: 0) { _, _ in journal.write("first") }
    center.observe(Action.login.topic, owner: owner, id: 0) { _, _ in journal.write("last") }
    center.post(Action.login.topic, Login(id: 1))
    #expect(journal.read() == "last")
  }

  @Test func theKeysOfAnObserverDoNotShareASlot() {
    let journal = journal
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Action.login.topic, owner: owner) { _, _ in journal.write("login") }
    center.observe(Action.logout.topic, owner: owner) { _, _ in journal.write("logout") }
    center.post(Action.login.topic, Login(id: 1))
    center.post(Action.logout.topic, Login(id: 1))
    #expect(journal.read() == "login logout")
  }

  @Test func keysAreNotMatchedBySubstring() {
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Topic<Int>("login"), owner: owner) { _, _ in }
    for name in ["log", "in", "loginFailed", "", "LOGIN"] {
      #expect(center.post(Topic<Int>(name), 1) == 0)
    }
  }

  @Test func anAddressUsedAgainIsNotTheOldObserver() {
    let journal = journal
    for _ in 0..<1000 {
      do {
        let dead = Owner()
        center.observe(.login, owner: dead) { _, _ in journal.write("dead") }
      }
      let owner = Owner()
      #expect(center.removeObservers(of: .login, owner: owner) == 0)
      extendLifetime(owner)
    }
    #expect(center.post(.login, Login(id: 1)) == 0)
    #expect(journal.read() == "")
  }

  @Test func theObserverIsHandedToTheBlock() {
    let journal = journal
    let owner = Owner("owner")
    center.observe(.login, owner: owner) { owner, _ in journal.write(owner.name) }
    center.post(.login, Login(id: 1))
    #expect(journal.read() == "owner")
    extendLifetime(owner)
  }

  @Test @MainActor func eachObserverChoosesTheMainThreadOrTheBackground() async {
    let center = center
    let queue = DispatchQueue(label: "background")
    let screen = Screen()
    let owner = Owner()
    defer { extendLifetime(owner) }
    let onQueue = Atomic<Bool>(false)
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    center.observe(.login, owner: owner, on: queue) { _, _ in
      dispatchPrecondition(condition: .onQueue(queue))
      onQueue.store(true, ordering: .relaxed)
    }
    await Task.detached { _ = await center.postAndWait(.login, Login(id: 7)) }.value
    #expect(screen.shown == [7])
    let ranOnQueue = onQueue.load(ordering: .relaxed)
    #expect(ranOnQueue)
  }

  @Test func observersMayComeAndGoOnAllThreads() {
    let center = center
    onThreads(8) { _ in
      for _ in 0..<200 {
        let owner = Owner()
        center.observe(.login, owner: owner) { _, _ in }
        #expect(center.post(.login, Login(id: 1)) >= 1)
        extendLifetime(owner)
      }
    }
    #expect(center.post(.login, Login(id: 1)) == 0)
  }

  // MARK: - 3. PSSNotificationCenter

  @Test func theNameMayBeLeftOut() {
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Topic<Login>(), owner: owner) { _, _ in }
    #expect(center.post(Topic(), Login(id: 1)) == 1)
  }

  @Test func anObserverMayHaveSeveralBlocksForOneName() {
    let journal = journal
    let owner = Owner()
    defer { extendLifetime(owner) }
    for id in 1...3 {
      center.observe(.login, owner: owner, id: id) { _, _ in journal.write("\(id)") }
    }
    center.observe(.login, owner: owner) { _, _ in journal.write("here") }
    center.observe(.login, owner: owner) { _, _ in journal.write("there") }
    center.post(.login, Login(id: 1))
    #expect(journal.read() == "1 2 3 here there")
  }

  @Test func blocksAreRemovedByNameByObserverByBothAndAltogether() {
    let owner = Owner()
    let other = Owner()
    defer { extendLifetime([owner, other]) }
    func posts() -> [Int] { [center.post(.login, Login(id: 1)), center.post(Topic<Int>("x"), 1)] }
    func observe() {
      for owner in [owner, other] {
        center.observe(.login, owner: owner) { _, _ in }
        center.observe(Topic<Int>("x"), owner: owner) { _, _ in }
      }
    }
    observe()
    #expect(posts() == [2, 2])
    center.removeObservers(of: .login)
    #expect(posts() == [0, 2])
    observe()
    center.remove(owner)
    #expect(posts() == [1, 1])
    observe()
    center.removeObservers(of: .login, owner: owner)
    #expect(posts() == [1, 2])
    center.removeAll()
    #expect(posts() == [0, 0])
  }

  @Test @MainActor func aPostFromTheBackgroundIsReceivedOnTheMainThread() async {
    let center = center
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in
      MainActor.assertIsolated()
      screen.shown.append(login.id)
    }
    onNewThread { center.post(.login, Login(id: 7)) }
    while screen.shown.isEmpty { await Task.yield() }
    #expect(screen.shown == [7])
  }

  // MARK: - 4. The block table with a watcher of deallocations

  @Test func theTableNeverRetainsObservers() {
    weak var reference: Owner?
    do {
      let owner = Owner()
      reference = owner
      center.observe(.login, owner: owner) { _, _ in }
      center.post(.login, Login(id: 1))
    }
    #expect(reference == nil)
  }

  @Test func blocksAreReleasedWithTheirObserver() {
    let journal = journal
    do {
      let owner = Owner()
      let sentinel = Sentinel(journal)
      center.observe(.login, owner: owner) { _, _ in extendLifetime(sentinel) }
      extendLifetime(owner)
    }
    center.post(.login, Login(id: 1))
    #expect(journal.read() == "end")
  }

  @Test func aBlockThatUsesItsOwnObserverMakesNoCycle() {
    final class Model: Sendable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      deinit { journal.write("end") }
      func observe(_ center: MulticastCenter) {
        center.observe(.login, owner: self) { model, _ in model.journal.write("used") }
      }
    }
    do {
      let model = Model(journal)
      model.observe(center)
      center.post(.login, Login(id: 1))
      extendLifetime(model)
    }
    #expect(journal.read() == "used end")
  }

  // MARK: - 5. ATBlockNotificationCenter

  @Test func aNotificationMayHaveSeveralTypedParameters() {
    let journal = journal
    let moved = Topic<(from: Int, to: Int, animated: Bool)>("moved")
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(moved, owner: owner) { _, move in
      journal.write("\(move.from) \(move.to) \(move.animated)")
    }
    center.post(moved, (from: 1, to: 2, animated: true))
    #expect(journal.read() == "1 2 true")
  }

  @Test func aPostCompletesAtBothEnds() async {
    struct Question: Sendable {
      let text: String
      let answer: @Sendable (String) -> Void
    }
    let journal = journal
    let owner = Owner("owner")
    defer { extendLifetime(owner) }
    center.observe(Topic<Question>(), owner: owner) { owner, question in
      await Task.yield()
      question.answer("\(owner.name): \(question.text)!")
    }
    await center.postAndWait(Topic(), Question(text: "hello") { journal.write($0) })
    journal.write("done")
    #expect(journal.read() == "owner: hello! done")
  }

  @Test func aMessageMayGrowAFieldWithoutTouchingItsObservers() {
    // As it was, and as it is now: whoever observes it reads `id`, and whoever posts it may say more.
    struct Purchase: Sendable {
      let id: Int
      var currency = "EUR"
    }
    let journal = journal
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Topic<Purchase>(), owner: owner) { _, purchase in
      journal.write("\(purchase.id)")
    }
    center.post(Topic(), Purchase(id: 1))
    center.post(Topic(), Purchase(id: 2, currency: "JPY"))
    #expect(journal.read() == "1 2")
  }

  @Test func blocksAreRemovedByNameAndAltogether() {
    let owner = Owner()
    defer { extendLifetime(owner) }
    center.observe(Topic<Int>("a"), owner: owner) { _, _ in }
    center.observe(Topic<Int>("b"), owner: owner) { _, _ in }
    center.removeObservers(of: Topic<Int>("a"))
    #expect(center.post(Topic<Int>("a"), 1) == 0)
    #expect(center.post(Topic<Int>("b"), 1) == 1)
    center.removeAll()
    #expect(center.post(Topic<Int>("b"), 1) == 0)
  }
}
