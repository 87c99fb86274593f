import Multicast
import TestSupport
import Testing

/// The cause of a delivery, in each of its events.
struct CauseTests {
  private let events = Events()
  private let owner = kept(Owner())
  private let center: MulticastCenter

  init() {
    center = MulticastCenter(onRecursion: { _ in }, onDelivery: events.add)
  }

  /// The deliveries in the order in which they began, each with its cause: `PongProtocol in PingProtocol`.
  private func deliveries(in events: Events) -> [String] {
    var keys: [UInt64: String] = [:]
    var causes: [UInt64: UInt64?] = [:]
    var deliveries: [String] = []
    for event in events.all {
      #expect(causes.updateValue(event.cause, forKey: event.delivery) ?? event.cause == event.cause)
      guard keys.updateValue(event.key, forKey: event.delivery) == nil else { continue }
      deliveries.append(event.key + (event.cause.map { " in \(keys[$0] ?? "?")" } ?? ""))
    }
    return deliveries
  }

  private var deliveries: [String] { deliveries(in: events) }

  private func notifyWorker() { center.notify(WorkerProtocol.self) { $0.work(0) } }

  @Test func aNotifyInACallHasThatDeliveryAsItsCause() {
    center.adding(Listener { [self] _ in notifyWorker() })
    center.notify(PingProtocol.self) { $0.ping(0) }
    notifyWorker()
    #expect(deliveries == ["PingProtocol", "WorkerProtocol in PingProtocol", "WorkerProtocol"])
  }

  @Test(arguments: HomeKind.allCases)
  func whatAHandlerDeliversInItsHomeHasThePostAsItsCause(home: HomeKind) async {
    center.observe(.login, owner: owner, in: home, of: Homes()) { [self] _ in
      notifyWorker()
      center.post(PingProtocol.self) { $0.ping(0) }
    }
    await center.post(.login, Login(id: 1)).delivered()
    await center.settled()
    #expect(
      deliveries == [
        #"Topic<Login>("login")"#, #"WorkerProtocol in Topic<Login>("login")"#,
        #"PingProtocol in Topic<Login>("login")"#,
      ])
  }

  @Test func aNotifyInAnAwaitedCallHasThatDeliveryAsItsCause() async {
    center.adding(
      Worker(onSlowWork: { [self] _ in
        await Task.yield()
        center.notify(PingProtocol.self) { $0.ping(0) }
        // A task that the client starts is not part of the call.
        await Task { _ = center.notify(PongProtocol.self) { $0.pong(0) } }.value
      }))
    await center.notify(WorkerProtocol.self, awaiting: { await $0.workSlowly(0) })
    #expect(deliveries == ["WorkerProtocol", "PingProtocol in WorkerProtocol", "PongProtocol"])
  }

  @Test func aRefusedDeliveryHasACause() {
    func notify() { center.notify(PingProtocol.self) { $0.ping(0) } }
    let client = center.adding(Client("a", Journal()))
    client.onPing = { _ in notify() }
    notify()
    client.onPing = nil
    #expect(deliveries == ["PingProtocol", "PingProtocol in PingProtocol"])
  }

  /// The numbers of another center's deliveries would say nothing.
  @Test func aDeliveryOfAnotherCenterIsNotACause() {
    let others = Events()
    let other = MulticastCenter(onDelivery: others.add)
    other.adding(Worker(onWork: { [center] _ in center.notify(PongProtocol.self) { $0.pong(0) } }))
    center.adding(Listener { _ in other.notify(WorkerProtocol.self) { $0.work(0) } })
    center.notify(PingProtocol.self) { $0.ping(0) }
    #expect(deliveries == ["PingProtocol", "PongProtocol in PingProtocol"])
    #expect(deliveries(in: others) == ["WorkerProtocol"])
  }

  /// A thread that posts in a home handles the letters that wait there.
  @Test func theCauseOfWhatALetterSetsOffIsItsPost() {
    let place = TestHome("home")
    center.observe(.login, owner: owner, on: place.queue) { [self] _, _ in notifyWorker() }
    center.observe(Topic<Int>("here"), owner: owner, on: place.queue) { _, _ in }
    center.adding(
      Listener { [center] _ in
        onNewThread { center.post(.login, Login(id: 1)) }
        center.post(Topic<Int>("here"), 1)
      })
    _ = place.queue.sync { center.notify(PingProtocol.self) { $0.ping(0) } }
    #expect(
      deliveries == [
        "PingProtocol", #"Topic<Login>("login")"#, #"Topic<Int>("here") in PingProtocol"#,
        #"WorkerProtocol in Topic<Login>("login")"#,
      ])
  }

  @Test func theCauseOfWhatADestroyedBodySetsOffIsItsPost() {
    let place = TestHome("home")
    let listener = kept(Listener { _ in })
    center.add(listener, for: PingProtocol.self, on: place.queue)
    place.queue.suspend()
    // When it is destroyed, the letter in the home is its only owner.
    center.post(PingProtocol.self) { [sentinel = Sentinel(notifyWorker)] client in
      extendLifetime(sentinel)
      client.ping(0)
    }
    place.queue.resume()
    place.queue.sync {}
    #expect(deliveries == ["PingProtocol", "WorkerProtocol in PingProtocol"])
  }
}
