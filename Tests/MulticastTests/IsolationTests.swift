import Dispatch
import Distributed
import Multicast
import TestSupport
import Testing

/// The part of rule 10 of the contract that only running can show: a client of a protocol that is not
/// Sendable, added inside an actor, is notified there or stops a debug build.
///
/// What the compiler has to accept and to refuse is in Tests/Compile.
@Suite struct IsolationTests {
  let center = MulticastCenter()

  actor Home {
    let client = Client("a", Journal())
    let center: MulticastCenter

    init(_ center: MulticastCenter) { self.center = center }

    func addClient() { center.add(client, for: PingProtocol.self) }

    func notifyHere() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }

    func notifyThroughHelper() -> Int { notify(center) }

    /// Adds so many short-lived clients during a notify that the list replaces its storage.
    func notifyAndChurn() {
      let called = center.notify(PingProtocol.self) { _ in
        for _ in 0..<1000 { center.add(Counter(), for: PingProtocol.self) }
      }
      precondition(called == 1)
    }

    func notifyAwaiting() async -> Int {
      await center.notify(PingProtocol.self, awaiting: { $0.ping(1) })
    }
  }

  /// Notifies in a function that is not isolated.
  static func notify(_ center: MulticastCenter) -> Int {
    center.notify(PingProtocol.self) { $0.ping(1) }
  }

  @Test func notifyInsideTheClientsActorCallsTheClient() async {
    let home = kept(Home(MulticastCenter()))
    await home.addClient()
    #expect(await home.notifyHere() == 1)
    #expect(await home.notifyAwaiting() == 1)
    #expect(await home.notifyThroughHelper() == 1)
    await MainActor.run {
      let client = kept(Client("a", Journal()))
      center.add(client, for: PingProtocol.self)
      #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
      #expect(Self.notify(center) == 1)
    }
  }

  /// The check does not apply to actors, to clients of a Sendable protocol, and to clients without a home.
  @Test func actorsSendableClientsAndClientsWithoutAHomeCanBeNotifiedAnywhere() async {
    actor Account: PingProtocol {
      func register(in center: MulticastCenter) { center.add(self, for: PingProtocol.self) }
      nonisolated func ping(_ number: Int) {}
    }
    let account = kept(Account())
    await account.register(in: center)
    center.adding(Counter())
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 2)
    #expect(await MainActor.run { center.notify(PingProtocol.self) { $0.ping(1) } } == 2)
    let client = kept(Worker())
    await MainActor.run { _ = center.add(client, for: WorkerProtocol.self) }
    #expect(center.notify(WorkerProtocol.self) { $0.work(1) } == 1)
  }

  @Test func aDistributedActorAddedInItselfCanBeNotifiedAnywhere() async {
    let account = kept(DistributedAccount(actorSystem: LocalTestingDistributedActorSystem()))
    await account.whenLocal { [center] account in account.register(in: center) }
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(await MainActor.run { center.notify(PingProtocol.self) { $0.ping(1) } } == 1)
  }

  /// An actor whose methods stop the program outside the actor. The compiler proposes this conformance for a nonisolated protocol.
  actor Analytics: @preconcurrency PingProtocol {
    var numbers: [Int] = []

    func ping(_ number: Int) { numbers.append(number) }
    func addItself(to center: MulticastCenter) { center.add(self, for: PingProtocol.self) }
    func addItself(to delegate: MulticastDelegate<any PingProtocol>) { delegate.add(self) }
  }

  @Test(arguments: ["center", "delegate", "isolation", "on main"])
  func anActorAddedInItselfIsCalledInItself(way: String) async {
    let analytics = kept(Analytics())
    switch way {
    case "center": await analytics.addItself(to: center)
    case "delegate": await analytics.addItself(to: center[PingProtocol.self])
    case "on main":
      await MainActor.run {
        _ = center.add(analytics, for: PingProtocol.self, isolation: analytics)
      }
    default: center.add(analytics, for: PingProtocol.self, isolation: analytics)
    }
    #expect(center.wiring.protocols.flatMap { $0.listeners.map(\.home) } == ["Analytics"])
    await center.post(PingProtocol.self) { $0.ping(1) }.delivered()
    #expect(await analytics.numbers == [1])
  }

  /// Its nonisolated methods may be called anywhere, so the debug checks do not apply to it.
  @Test func anActorAddedInItselfCanBeNotifiedAnywhere() async {
    actor Account: PingProtocol {
      let calls = Numbers()
      func addItself(to center: MulticastCenter) { center.add(self, for: PingProtocol.self) }
      nonisolated func ping(_ number: Int) { calls.add(number) }
    }
    let account = kept(Account())
    await account.addItself(to: center)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(await center.notify(PingProtocol.self, awaiting: { $0.ping(2) }) == 1)
    #expect(await MainActor.run { center.notify(PingProtocol.self) { $0.ping(3) } } == 1)
    #expect(center[PingProtocol.self].clients.count == 1)
    await center.postOnMain(PingProtocol.self) { $0.ping(4) }.delivered()
    #expect(account.calls.all == [1, 2, 3, 4])
  }

  /// An actor that is added in another one has no home.
  @Test func anActorAddedInAnotherActorHasNoHome() async {
    actor Account: PingProtocol { nonisolated func ping(_ number: Int) {} }
    let account = kept(Account())
    await MainActor.run { _ = center.add(account, for: PingProtocol.self) }
    #expect(center.wiring.protocols.flatMap { $0.listeners.map(\.home) } == ["posting thread"])
  }

  @Test func notifyTrustsAnExecutorThatCannotTellWhetherItIsCurrent() async {
    let store = QueueActor()
    await store.addClient(to: center)
    let called = await withCheckedContinuation { continuation in
      store.testHome.queue.async {
        store.assumeIsolated { _ in
          continuation.resume(returning: center.notify(PingProtocol.self) { $0.ping(1) })
        }
      }
    }
    #expect(called == 1)
  }

  #if DEBUG
    actor Quiet: PingProtocol { nonisolated func ping(_ number: Int) {} }

    /// As in the top-level code of a program, which knows no isolation and runs on the main thread.
    static func add(_ quiet: Quiet, to center: MulticastCenter) {
      center.add(quiet, for: PingProtocol.self)
    }

    @Test func anActorAddedOnTheMainThreadCanBeNotifiedAnywhere() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, quiet) = (MulticastCenter(), Quiet())
        await MainActor.run { Self.add(quiet, to: center) }
        await Task.detached { precondition(center.notify(PingProtocol.self) { $0.ping(1) } == 1) }
          .value
        extendLifetime(quiet)
      }
      #expect(text(result) == "")
    }

    @Test(.enabled(if: Process.knowsCurrentActor))
    func notifyOutsideTheClientsActorStopsADebugBuild() async {
      let messages = [
        text(
          await #expect(processExitsWith: .crash, observing: .errors) {
            let home = kept(Home(MulticastCenter()))
            await home.addClient()
            _ = Self.notify(home.center)
          }),
        text(
          await #expect(processExitsWith: .crash, observing: .errors) {
            let home = kept(Home(MulticastCenter()))
            await home.addClient()
            await home.center.notify(PingProtocol.self, awaiting: { $0.ping(1) })
          }),
        // The list keeps the client's actor when its storage is replaced during a notify.
        text(
          await #expect(processExitsWith: .crash, observing: .errors) {
            let home = kept(Home(MulticastCenter()))
            await home.addClient()
            await home.notifyAndChurn()
            _ = Self.notify(home.center)
          }),
      ]
      for message in messages {
        #expect(message.contains("a client of type Client, added for PingProtocol, has "))
        #expect(message.contains("Home"))
        #expect(message.contains("Post instead"))
      }
    }

    @Test func notifyOutsideTheMainActorStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        let delegate = MulticastDelegate<any PingProtocol>()
        await Self.addOnMainActor(delegate)
        await Task.detached { _ = delegate.notify(forEach: [1]) { $0.ping($1) } }.value
      }
      #expect(text(result).contains("MainActor"))
    }

    @MainActor static let screen = Client("screen", Journal())

    @MainActor static func addOnMainActor(_ delegate: MulticastDelegate<any PingProtocol>) {
      delegate.add(screen)
    }
  #else
    @Test func notifyOutsideTheClientsActorCallsTheClientInAReleaseBuild() async {
      let home = kept(Home(MulticastCenter()))
      await home.addClient()
      #expect(Self.notify(home.center) == 1)
    }
  #endif
}

private distributed actor DistributedAccount: PingProtocol {
  typealias ActorSystem = LocalTestingDistributedActorSystem
  func register(in center: MulticastCenter) { center.add(self, for: PingProtocol.self) }
  nonisolated func ping(_ number: Int) {}
}

extension QueueActor {
  fileprivate func addClient(to center: MulticastCenter) {
    center.add(kept(Client("a", Journal())), for: PingProtocol.self)
  }
}

#if DEBUG
  import Multicast
  import TestSupport
  import Testing

  /// The part of rules 10 and 13 of the contract that only running can show: a debug build stops where
  /// a client is called outside its home.
  @Suite struct HomeCheckTests {
    @Test func notifyOutsideTheClientsQueueStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        let testHome = TestHome("storage")
        let client = Listener { _ in }
        let delegates = MulticastDelegate<any PingProtocol>()
        delegates.add(client, on: testHome.queue)
        delegates.notify { $0.ping(1) }
        extendLifetime(client)
      }
      let message = text(result)
      #expect(message.contains("a client of type Listener, added for PingProtocol, has "))
      #expect(message.contains("queue storage"))
      #expect(message.contains("at MulticastTests/IsolationTests.swift:"))
      #expect(message.contains("Post instead"))
      #expect(message.contains("on: nil"))
    }

    @Test func aClientCanBeNotifiedOnItsQueue() {
      let testHome = TestHome()
      let journal = Journal()
      let client = kept(Listener { number in journal.write("\(number)") })
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(client, on: testHome.queue)
      testHome.queue.sync { _ = delegates.notify { $0.ping(1) } }
      #expect(journal.read() == "1")
    }

    @Test @MainActor func aClientOfTheMainQueueCanBeNotifiedOnTheMainActor() {
      let journal = Journal()
      let client = kept(Listener { number in journal.write("\(number)") })
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(client, on: .main)
      delegates.notify { $0.ping(1) }
      #expect(journal.read() == "1")
    }

    @Test func notifyOfAClientOfTheMainQueueElsewhereStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        let client = Listener { _ in }
        let delegates = MulticastDelegate<any PingProtocol>()
        await MainActor.run { _ = delegates.add(client, on: .main) }
        await Task.detached { _ = delegates.notify { $0.ping(1) } }.value
        extendLifetime(client)
      }
      #expect(text(result).contains("Post instead"))
    }

    /// Posts a body of the main actor to a client on a queue.
    private static func misplace(
      _ post: (MulticastDelegate<any PingProtocol>) async -> Void
    ) async {
      let testHome = TestHome("storage")
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(kept(Listener { _ in }), on: testHome.queue)
      await post(delegates)
    }

    private static func expectMisplaced(_ result: ExitTest.Result?) {
      #expect(text(result).contains("a post to PingProtocol on the main actor"))
      #expect(text(result).contains("has queue storage as its home"))
    }

    @Test func postOnMainOnTheMainActorToAClientOfAQueueStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { delegates in
          await MainActor.run { _ = delegates.postOnMain { $0.ping(1) } }
        }
      }
      Self.expectMisplaced(result)
    }

    @Test func postOnMainFromElsewhereToAClientOfAQueueStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { delegates in
          delegates.postOnMain { $0.ping(1) }
          // The second post would be delivered after the first one.
          await delegates.postOnMain { $0.ping(2) }.delivered()
        }
      }
      Self.expectMisplaced(result)
    }

    @Test func anAwaitedPostOnMainToAClientOfAQueueStopsADebugBuild() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { await $0.postOnMain { $0.ping(1) }.delivered() }
      }
      Self.expectMisplaced(result)
    }

    // MARK: - Without a home

    /// Adds a client outside its isolation, as a class does that adds itself in its nonisolated `init`.
    private static func add(_ client: Listener, to center: MulticastCenter, explicitly: Bool) {
      if explicitly {
        center.add(client, for: PingProtocol.self, on: nil)
      } else {
        center.add(client, for: PingProtocol.self)
      }
    }

    @Test(arguments: ["notify", "post"]) func aClientAddedOnTheMainThreadWithoutAHomeIsReportedOnce(
      way: String
    ) async {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [way] in
        let center = MulticastCenter()
        let client = Listener { _ in }
        await MainActor.run {
          Self.add(client, to: center, explicitly: false)
          center.post(PingProtocol.self) { $0.ping(1) }
        }
        for _ in 0..<3 {
          if way == "post" {
            center.post(PingProtocol.self) { $0.ping(1) }
          } else {
            center.notify(PingProtocol.self) { $0.ping(1) }
          }
        }
        extendLifetime(client)
      }
      let message = text(result)
      #expect(message.split(separator: "\n").count == 1)
      #expect(message.contains("a client of type Listener was added for PingProtocol"))
      #expect(message.components(separatedBy: "MulticastTests/IsolationTests.swift:").count == 3)
      #expect(message.contains("on: nil"))
    }

    private actor Session {
      private let listener = Listener { _ in }

      /// The compiler does not tell the closure that it runs in this actor.
      func start(in center: MulticastCenter) {
        [listener].forEach { center.add($0, for: PingProtocol.self) }
        center.post(PingProtocol.self) { $0.ping(1) }
      }
    }

    @Test(.enabled(if: Process.knowsCurrentActor), arguments: ["main actor", "no actor"])
    func aClientAddedInAnActorWithoutAHomeIsReportedOnce(place: String) async {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [place] in
        let (center, session) = (MulticastCenter(), Session())
        await session.start(in: center)
        precondition("\(center.wiring)".contains("posting thread"))
        for _ in 0..<3 {
          if place == "main actor" {
            await MainActor.run { _ = center.post(PingProtocol.self) { $0.ping(1) } }
          } else {
            await Task.detached { _ = center.post(PingProtocol.self) { $0.ping(1) } }.value
          }
        }
        extendLifetime(session)
      }
      let message = text(result)
      #expect(message.split(separator: "\n").count == 1)
      #expect(message.contains("a client of type Listener was added for PingProtocol in an actor"))
    }

    /// `postOnMain` calls clients without a home on the main actor.
    @Test func aClientAddedInAnActorWithoutAHomeAndCalledThereIsNotReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, session) = (MulticastCenter(), Session())
        for _ in 0..<2 { await session.start(in: center) }
        await center.postOnMain(PingProtocol.self) { $0.ping(1) }.delivered()
        extendLifetime(session)
      }
      #expect(text(result) == "")
    }

    @MainActor private final class MainListener: @MainActor PingProtocol {
      nonisolated init() {}
      func ping(_ value: Int) {}
    }

    /// The compiler accepts this: the conformance is used in the main actor, and the client is called elsewhere.
    @Test(arguments: ["queue", "no home"])
    func aClientOfTheMainActorThatIsCalledElsewhereIsReportedOnce(home: String) async {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [home] in
        let (center, client) = (MulticastCenter(), MainListener())
        await MainActor.run {
          let queue = home == "queue" ? DispatchQueue(label: "App.queue") : nil
          center.add(client, for: PingProtocol.self, on: queue)
        }
        for _ in 0..<3 {
          await center.post(PingProtocol.self, fileID: "App/A.swift", line: 1, column: 2) { _ in }
            .delivered()
        }
        extendLifetime(client)
      }
      let place = home == "queue" ? "queue App.queue is its home" : "it has no home"
      #expect(
        text(result) == """
          Multicast: a client of type MainListener conforms to PingProtocol in one actor only, and was called outside it, from \
          App/A.swift:1:2, because \(place). Give it that actor as its home: add it there without on:, or pass isolation:. Or \
          make the class nonisolated.

          """)
    }

    @Test func aClientOfTheMainActorThatIsCalledThereIsNotReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let center = MulticastCenter()
        let clients = (MainListener(), MainListener(), MainListener())
        await MainActor.run {
          center.add(clients.0, for: PingProtocol.self)
          center.add(clients.1, for: PingProtocol.self, on: .main)
          center.add(clients.2, for: PingProtocol.self, on: nil)
          center.notify(PingProtocol.self) { $0.ping(1) }
          center.post(PingProtocol.self) { $0.ping(1) }
        }
        extendLifetime(clients)
      }
      #expect(text(result) == "")
    }

    @Test func aClientExplicitlyAddedWithoutAHomeIsNotReported() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let center = MulticastCenter()
        let (client, other, worker) = (Listener { _ in }, Listener { _ in }, Worker())
        await MainActor.run {
          Self.add(client, to: center, explicitly: true)
          center.add(worker, for: WorkerProtocol.self)
        }
        Self.add(other, to: center, explicitly: false)
        center.post(PingProtocol.self) { $0.ping(1) }
        center.post(WorkerProtocol.self) { $0.work(1) }
        extendLifetime((client, other, worker))
      }
      #expect(text(result) == "")
    }
  }
#endif
