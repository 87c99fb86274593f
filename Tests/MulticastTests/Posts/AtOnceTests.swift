import Dispatch
import Multicast
import TestSupport
import Testing

/// Rule 15 of the contract: what has happened when a post returns.
@Suite struct AtOnceTests {
  let owner = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()

  @Test @MainActor func whoIsAtHomeAndWhoHasNoneHaveBeenCalledWhenThePostReturns() {
    let client = kept(Client("home", journal))
    let other = kept(Listener { [journal] number in journal.write("anywhere\(number)") })
    center.add(client, for: PingProtocol.self)
    center.add(other, for: PingProtocol.self, on: nil)
    #expect(center.post(PingProtocol.self) { $0.ping(1) }.clients == 2)
    #expect(journal.read() == "anywhere1 home")
  }

  @Test @MainActor func whatWaitedAtHomeComesFirst() {
    let client = kept(Both(journal))
    let screen = kept(Screen())
    center.add(client, for: PingProtocol.self)
    center.add(client, for: PongProtocol.self)
    center.observe(.login, owner: screen) { _, login in journal.write("login\(login.id)") }
    onNewThread {
      center.post(PingProtocol.self) { $0.ping(1) }
      center.post(.login, Login(id: 1))
    }
    center.post(PongProtocol.self) { $0.pong(2) }
    #expect(journal.read() == "ping1 login1 pong2")
  }

  @Test(arguments: [false, true]) func whatWaitedOnAQueueComesFirst(concurrent: Bool) {
    let place = Place(concurrent: concurrent)
    center.observe(.login, owner: owner, on: place.queue) { _, login in
      #expect(place.isCurrent)
      journal.write("\(login.id)")
    }
    // A barrier, because a concurrent queue would otherwise handle the letters beside this.
    place.queue.sync(flags: .barrier) {
      onNewThread { for id in 1...3 { center.post(.login, Login(id: id)) } }
      #expect(journal.read() == "")
      center.post(.login, Login(id: 4))
      #expect(journal.read() == "1 2 3 4")
    }
  }

  @Test @MainActor func whatFollowsHasHappenedToo() {
    let screen = kept(Screen())
    center.observe(Topic<Int>("question"), owner: screen) { _, number in
      center.post(Topic<Int>("answer"), number)
      journal.write("asked\(number)")
    }
    center.observe(Topic<Int>("answer"), owner: screen) { _, number in
      journal.write("answered\(number)")
    }
    center.post(Topic<Int>("question"), 1)
    #expect(journal.read() == "asked1 answered1")
  }

  @Test @MainActor func aHandlerThatWaitsElsewhereFindsWhatWasPostedBefore() async {
    let screen = Screen()
    center.observe(.login, owner: screen) { screen, login in screen.shown.append(login.id) }
    let seen = Numbers()
    // It awaits, so it has a lane; it posts inside of the main actor, where messages wait by then.
    center.observe(Topic<Int>(), owner: owner) { @MainActor _, number in
      onNewThread { for id in 1...3 { center.post(.login, Login(id: id)) } }
      center.post(.login, Login(id: number))
      for id in screen.shown { seen.add(id) }
      await Task.yield()
    }
    await center.post(Topic<Int>(), 4).delivered()
    #expect(seen.all == [1, 2, 3, 4])
  }

  // MARK: - In several homes

  @Test func everyHomeOfAThreadIsCalledAtOnce() {
    let outer = DispatchQueue(label: "outer")
    let inner = DispatchQueue(label: "inner", target: outer)
    center.observe(.login, owner: owner, on: outer) { [journal] _, _ in journal.write("outer") }
    center.observe(.login, owner: owner) { [journal] _, _ in journal.write("nowhere") }
    center.observe(.login, owner: owner, on: inner) { [journal] _, _ in journal.write("inner") }
    inner.sync {
      #expect(center.post(.login, Login(id: 1)).clients == 3)
      #expect(journal.read() == "nowhere outer inner")
    }
  }

  @Test @MainActor func theMainActorAndTheQueueThatItEntersAreCalledAtOnce() {
    let place = Place()
    let screen = kept(Screen())
    center.observe(.login, owner: screen) { [journal] _, _ in journal.write("main") }
    center.observe(.login, owner: owner, on: place.queue) { [journal] _, _ in
      journal.write("queue")
    }
    place.queue.sync { _ = center.post(.login, Login(id: 1)) }
    #expect(journal.read() == "main queue")
  }

  @Test(.enabled(if: Process.knowsCurrentActor))
  func twoActorsOfOneExecutorAreCalledAtOnce() async {
    let executor = SharedExecutor()
    let (one, two) = (Sharing(executor, center, journal), Sharing(executor, center, journal))
    await one.observe("one")
    await two.observe("two")
    await one.post()
    #expect(journal.read() == "one two returned")
  }

  private final class SharedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "shared")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private actor Sharing {
    private let executor: SharedExecutor
    private let center: MulticastCenter
    private let journal: Journal
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: SharedExecutor, _ center: MulticastCenter, _ journal: Journal) {
      (self.executor, self.center, self.journal) = (executor, center, journal)
    }

    func observe(_ name: String) {
      center.observe(.login, owner: self) { (me: isolated Sharing, _) in me.journal.write(name) }
    }

    func post() {
      center.post(.login, Login(id: 1))
      journal.write("returned")
    }
  }

  /// In this process, another thread than the main one serves the main queue.
  @Test func aBlockOfTheMainQueueIsInTheMainActor() async {
    await MainActor.run {
      let screen = kept(Screen())
      _ = center.observe(.login, owner: screen) { [journal] _, _ in journal.write("main") }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async { [center, journal] in
        center.post(.login, Login(id: 1))
        journal.write("returned")
        continuation.resume()
      }
    }
    #expect(journal.read() == "main returned")
  }
}
