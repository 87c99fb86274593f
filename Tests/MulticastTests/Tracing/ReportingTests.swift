import Multicast
import TestSupport
import Testing

/// What a callback notifies and posts itself.
struct ReportingTests {
  let told = Numbers()

  /// A callback that tells others of each event, and counts the events.
  private final class Teller: Sendable {
    private let center = Locked<MulticastCenter?>(nil)
    private let tell: @Sendable (MulticastCenter, DeliveryEvent) -> Void
    let events = Events()

    init(_ tell: @escaping @Sendable (MulticastCenter, DeliveryEvent) -> Void) {
      self.tell = tell
    }

    func makeCenter() -> MulticastCenter {
      let made = MulticastCenter(onDelivery: { event in
        self.events.add(event)
        if let center = self.center.withLock({ $0 }) { self.tell(center, event) }
      })
      center.withLock { $0 = made }
      return made
    }

    /// The center keeps its callback, and the callback the center.
    func end() { center.withLock { $0 = nil } }
  }

  @Test func whatACallbackNotifiesIsDeliveredAndNotReported() {
    let teller = Teller { center, _ in center.notify(PingProtocol.self) { $0.ping(0) } }
    let center = teller.makeCenter()
    center.adding(Worker())
    let told = center.adding(Counter())
    center.notify(WorkerProtocol.self) { $0.work(0) }
    #expect(
      teller.events.read() == ["notify began", "notify called Worker", "notify ended 1"])
    #expect(told.calls == 3)
    teller.end()
  }

  /// Here, elsewhere and in a task, and what is set off there.
  @Test(arguments: [HomeKind.none, .queue, .task])
  func whatACallbackPostsIsHandledAndNotReportedAnywhere(home: HomeKind) async {
    let teller = Teller { center, _ in center.post(.login, Login(id: 1)) }
    let center = teller.makeCenter()
    let owner = kept(Owner())
    center.adding(Listener { number in told.add(number) })
    center.observe(.login, owner: owner, in: home, of: Homes()) { [weak center] _ in
      center?.notify(PingProtocol.self) { $0.ping(1) }
      center?.post(PingProtocol.self) { $0.ping(2) }
    }
    center.adding(Worker())
    center.post(WorkerProtocol.self) { $0.work(0) }
    await told.wait(for: 6)
    // What is reported is reported before it is called.
    teller.end()
    #expect(teller.events.read() == ["post began", "post called Worker", "post ended 1"])
    #expect(told.all.sorted() == [1, 1, 1, 2, 2, 2])
  }

  @Test func aTaskThatACallbackStartsIsNotReported() async {
    let teller = Teller { center, _ in
      Task { center.notify(PingProtocol.self) { $0.ping(0) } }
    }
    let center = teller.makeCenter()
    center.adding(Listener { number in told.add(number) })
    center.adding(Worker())
    center.notify(WorkerProtocol.self) { $0.work(0) }
    await told.wait(for: 3)
    #expect(teller.events.all.count == 3)
    teller.end()
  }
}
