import TestSupport
import Dispatch
import Multicast
import Testing

private protocol UserProtocol {}
private protocol Sink<Element> {
  associatedtype Element
}

private final class ProfileScreen: UserProtocol {}
private final class Badge: UserProtocol, Sink {
  typealias Element = Int
}

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

  @Test func neighboursOfOneTypeAreAGroupAndTheOrderIsKept() {
    // A notify leaves a center that nobody used empty.
    center.notify(UserProtocol.self) { _ in }
    #expect(center.wiring.protocols.isEmpty && center.wiring.topics.isEmpty)
    #expect(center.wiring == MulticastCenter().wiring)
    let all: [any UserProtocol] = [Badge(), Badge(), ProfileScreen(), Badge()]
    defer { extendLifetime(all) }
    for client in all { center.add(client, for: UserProtocol.self) }
    #expect(clients == ["2 Badge", "1 ProfileScreen", "1 Badge"])
    #expect(center.wiring.protocols.map(\.count) == [4])
  }

  @Test func protocolsStandInTheOrderOfTheirFirstUse() {
    let badge = kept(Badge())
    center.add(badge, for: (any Sink<Int>).self)
    center.add(badge, for: (UserProtocol & AnyObject).self)
    center.add(badge, for: Badge.self)

    // The first one is as the runtime writes it.
    let sink = String(describing: (any Sink<Int>).self)
    #expect(center.wiring.protocols.map(\.name) == [sink, "UserProtocol & AnyObject", "Badge"])
    #expect(clients == ["1 Badge", "1 Badge", "1 Badge"])
  }

  @Test func clientsThatEndedOrWereRemovedAreNotThere() {
    let removed = kept(Badge())
    var screen = Optional(ProfileScreen())
    weak var reference: ProfileScreen?
    reference = screen
    center.add(Badge(), for: UserProtocol.self)
    center.add(removed, for: UserProtocol.self)
    center.add(screen!, for: UserProtocol.self)
    center.remove(removed, for: UserProtocol.self)
    #expect(clients == ["1 ProfileScreen"])
    // A wiring keeps nobody alive, and a protocol stays.
    let wiring = center.wiring
    screen = nil
    #expect(reference == nil)
    #expect(wiring.protocols.map(\.count) == [1])
    #expect(wiring != center.wiring)
    #expect(center.wiring.protocols.map(\.name) == ["UserProtocol"])
    #expect(center.wiring.protocols.map(\.count) == [0])
  }

  // MARK: - Topics

  @Test func tellsOwnersIDsAndIsolation() async {
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

  @Test func topicsStandInTheOrderOfTheirMessageTypesAndNames() {
    let owners = kept((0..<5).map { _ in Owner() })
    for owner in owners {
      center.observe(Topic<Login>("b"), owner: owner) { _, _ in }
    }
    center.observe(Topic<Login>("b"), owner: owners[0], id: "second") { _, _ in }
    // Observers that are alike and neighbours are a group.
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

  @Test func observersThatEndedAndTheirTopicsAreNotThere() {
    let counts = Numbers()
    center.observe(Topic<Login>("ended"), owner: Owner()) { _, _ in }
    center.observe(Topic<Login>("cancelled"), owner: owner) { _, _ in }.cancel()
    center.observe(Topic<Login>("once"), owner: owner, once: true) { [center] _, _ in
      counts.add(center.wiring.topics.count)
    }
    center.post(Topic<Login>("once"), Login(id: 1))
    #expect(counts.all == [0])
  }

  @Test func aLoopOverMessagesIsAnObserver() {
    _ = kept(center.messages(of: .login))
    #expect(observers == ["1 AsyncStream<Login> - posting thread"])
  }

  @Test func aDebugBuildShowsWhereEachHandlerObserves() {
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

  // MARK: - In words

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

  // MARK: - Surroundings

  @Test func clientsMayEndAndAddOthersMeanwhile() {
    // An id whose description uses the center, as only a program that wants to break it has.
    struct ID: Hashable, Sendable, CustomStringConvertible {
      let center: MulticastCenter
      static func == (one: ID, other: ID) -> Bool { true }
      func hash(into hasher: inout Hasher) {}

      var description: String {
        let owner = Owner()
        center.observe(.login, owner: owner, id: "nested") { _, _ in }
        center.removeObservers(of: .login)
        return "\(center.wiring.topics.count) topics"
      }
    }
    center.observe(.login, owner: owner, id: ID(center: center)) { _, _ in }
    #expect(observers == ["1 Owner 0 topics posting thread"])
    #expect(center.wiring.topics.isEmpty)
  }

  @Test func mayBeReadWhileOtherThreadsChangeTheCenter() {
    onThreads(4) { thread in
      for _ in 0..<200 {
        let badge = Badge()
        let owner = Owner()
        center.add(badge, for: UserProtocol.self)
        center.observe(.login, owner: owner) { _, _ in }
        let wiring = center.wiring
        // Each thread has one, and may hold another one's for an instant beyond its end.
        #expect((1...8).contains(wiring.protocols.map(\.count).reduce(0, +)))
        #expect((1...8).contains(wiring.topics.map(\.count).reduce(0, +)))
        extendLifetime((badge, owner))
      }
    }
    #expect(clients.isEmpty)
    #expect(observers.isEmpty)
  }
}
