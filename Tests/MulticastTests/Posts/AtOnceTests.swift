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
    center.add(other, for: PingProtocol.self, isolation: nil)
    #expect(center.post(PingProtocol.self) { $0.ping(1) } == 2)
    #expect(journal.read() == "home anywhere1")
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
    await center.postAndWait(Topic<Int>(), 4)
    #expect(seen.all == [1, 2, 3, 4])
  }
}
