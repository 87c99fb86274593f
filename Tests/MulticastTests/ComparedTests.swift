import Foundation
import Multicast
import TestSupport
import Testing

/// A list of weak references, as many programs have one.
private final class WeakArray {
  private struct Entry {
    weak var client: Client?
  }
  private var entries: [Entry] = []

  func add(_ client: Client) { entries.append(Entry(client: client)) }

  func notify(_ number: Int) {
    for entry in entries { entry.client?.ping(number) }
  }
}

/// The table "Compared" in README.md, with a test for each row. Combine's column follows its documentation, as does an order
/// that is undefined.
@Suite struct ComparedTests {
  private let center = MulticastCenter()
  private let notifications = NotificationCenter()
  private let array = WeakArray()
  private let journal = Journal()
  private let testHome = TestHome()

  private func makeClient(_ name: String, _ onPing: ((Int) -> Void)? = nil) -> Client {
    let client = Client(name, journal)
    client.onPing = onPing
    return client
  }

  private func notify(_ number: Int) { center.notify(PingProtocol.self) { $0.ping(number) } }
  private func post(_ number: Int) { center.post(PingProtocol.self) { $0.ping(number) } }

  private static func observe(
    _ notifications: NotificationCenter, on queue: OperationQueue? = nil,
    _ body: @escaping @Sendable (Int) -> Void
  ) {
    _ = notifications.addObserver(
      forName: Notification.Name("number"), object: nil, queue: queue
    ) { notification in body(notification.userInfo?["number"] as? Int ?? 0) }
  }

  private static func post(_ number: Int, to notifications: NotificationCenter) {
    notifications.post(
      name: Notification.Name("number"), object: nil, userInfo: ["number": number])
  }

  @Test func clientsAreCalledInTheOrderOfRegistration() async {
    let clients = "abcd".map { makeClient(String($0)) }
    for client in clients {
      center.add(client, for: PingProtocol.self, isolation: nil)
      array.add(client)
    }
    notify(1)
    #expect(journal.read() == "a b c d")
    array.notify(1)
    #expect(journal.read() == "a b c d")

    let homes = Homes()
    for (number, home) in [homes.one, homes.two, homes.one, homes.two].enumerated() {
      let worker = kept(Worker(onWork: { [journal] _ in journal.write("\(number)") }))
      center.add(worker, for: WorkerProtocol.self, on: home.queue)
    }
    await center.post(WorkerProtocol.self) { $0.work(1) }.delivered()
    let called = journal.read().split(separator: " ")
    #expect(called.filter { "02".contains($0) } == ["0", "2"])
    #expect(called.filter { "13".contains($0) } == ["1", "3"])
    extendLifetime(clients)
  }

  @Test func onlyACenterCallsAnObjectAddedTwiceOnce() {
    let client = makeClient("a")
    for _ in 0..<2 {
      center.add(client, for: PingProtocol.self, isolation: nil)
      array.add(client)
      Self.observe(notifications) { [journal] _ in journal.write("a") }
    }
    notify(1)
    #expect(journal.read() == "a")
    post(1)
    #expect(journal.read() == "a")
    array.notify(1)
    #expect(journal.read() == "a a")
    Self.post(1, to: notifications)
    #expect(journal.read() == "a a")
    extendLifetime(client)
  }

  @Test func onlyANotificationCenterCallsAClientThatWasNeverRemoved() {
    do {
      let client = makeClient("a")
      center.add(client, for: PingProtocol.self, isolation: nil)
      array.add(client)
      Self.observe(notifications) { [journal] _ in journal.write("runs on") }
    }
    notify(1)
    post(1)
    array.notify(1)
    #expect(journal.read() == "")
    Self.post(1, to: notifications)
    #expect(journal.read() == "runs on")
  }

  @Test func notifyCallsClientsHereAndPostInTheirHome() async {
    let write: @Sendable (Int) -> Void = { [journal, testHome] _ in
      journal.write(testHome.isCurrent ? "on the queue" : "here")
    }
    let (anywhere, atHome) = (Worker(onWork: write), Worker(onWork: write))
    center.add(anywhere, for: WorkerProtocol.self)
    center.notify(WorkerProtocol.self) { $0.work(1) }
    #expect(journal.read() == "here")
    center.remove(anywhere)
    center.add(atHome, for: WorkerProtocol.self, on: testHome.queue)
    await center.post(WorkerProtocol.self) { $0.work(1) }.delivered()
    #expect(journal.read() == "on the queue")

    let operations = OperationQueue()
    operations.underlyingQueue = testHome.queue
    Self.observe(notifications, write)
    Self.post(1, to: notifications)
    #expect(journal.read() == "here")
    Self.observe(notifications, on: operations, write)
    Self.post(1, to: notifications)
    #expect(journal.take().sorted() == ["here", "on the queue"])

    array.add(makeClient("here"))
    #expect(journal.read() == "")
    let client = makeClient("here")
    array.add(client)
    array.notify(1)
    #expect(journal.read() == "here")
    extendLifetime((anywhere, atHome, client))
  }

  /// The first client sends 2 while it receives 1. The test checks the order for the client behind it.
  @Test func onlyPostKeepsTheOrderForClientsBehindOneThatSendsAgain() {
    let received = Numbers()
    let first = makeClient("first")
    let behind = makeClient("behind", received.add)
    for client in [first, behind] {
      center.add(client, for: PingProtocol.self, isolation: nil)
      array.add(client)
    }
    func sendTwo(_ send: @escaping (Int) -> Void) {
      first.onPing = { if $0 == 1 { send(2) } }
    }
    sendTwo { [center] number in center.notify(PingProtocol.self) { $0.ping(number) } }
    notify(1)
    #expect(received.take() == [2, 1])
    sendTwo { [center] number in center.post(PingProtocol.self) { $0.ping(number) } }
    post(1)
    #expect(received.take() == [1, 2])
    sendTwo { [array] number in array.notify(number) }
    array.notify(1)
    #expect(received.take() == [2, 1])

    // The notification center may call either observer first. That one sends, and the other one is behind it.
    let orders = Locked<[Int: [Int]]>([:])
    let hasSent = Locked(false)
    for observer in 0..<2 {
      Self.observe(notifications) { [notifications] number in
        if number == 1, hasSent.withLock({ !exchange(&$0, with: true) }) {
          Self.post(2, to: notifications)
        }
        orders.withLock { $0[observer, default: []].append(number) }
      }
    }
    Self.post(1, to: notifications)
    #expect(orders.withLock { Array($0.values) } == [[2, 1], [2, 1]])
    extendLifetime((first, behind))
  }

  @Test func aCenterRefusesALoop() {
    let reports = Reports()
    let center = reports.center
    let client = makeClient("a")
    center.add(client, for: PingProtocol.self, isolation: nil)
    client.onPing = { [center] number in center.notify(PingProtocol.self) { $0.ping(number) } }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(reports.all.map(\.isPost) == [false])
    client.onPing = { [center] number in center.post(PingProtocol.self) { $0.ping(number) } }
    _ = journal.take()
    client.ping(1)
    #expect(reports.all.map(\.isPost) == [false, true])
    // The call, the post that it makes, and the 1,000 that this one sets off.
    #expect(journal.take().count == 1_002)
  }

  @Test(arguments: ["NotificationCenter", "weak array"])
  func aLoopCrashesANotificationCenterAndAWeakArray(system: String) async {
    await #expect(processExitsWith: .crash) { [system] in
      // Work after each call, or the compiler could make a loop of the recursion.
      let depth = Numbers()
      let (notifications, array) = (NotificationCenter(), WeakArray())
      let client = kept(Client("a", Journal()))
      client.onPing = { [array] number in
        array.notify(number + 1)
        depth.add(number)
      }
      array.add(client)
      Self.observe(notifications) { number in
        Self.post(number + 1, to: notifications)
        depth.add(number)
      }
      if system == "weak array" { array.notify(1) } else { Self.post(1, to: notifications) }
    }
  }
}
