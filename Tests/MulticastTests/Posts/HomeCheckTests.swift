#if DEBUG
  import Multicast
  import TestSupport
  import Testing

  /// The part of rules 10 and 13 of the contract that only running can show: a debug build stops where
  /// a client is called outside of its home.
  @Suite struct HomeCheckTests {
    @Test func aNotifyOutsideOfTheClientsQueueStops() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        let place = Place("storage")
        let client = Listener { _ in }
        let delegates = MulticastDelegate<any PingProtocol>()
        delegates.add(client, on: place.queue)
        delegates.notify { $0.ping(1) }
        extendLifetime(client)
      }
      let message = text(result)
      #expect(message.contains("a client of type Listener was added for PingProtocol"))
      #expect(message.contains("on the queue storage"))
      #expect(message.contains("at MulticastTests/HomeCheckTests.swift:"))
      #expect(message.contains("Post instead"))
      #expect(message.contains("on: nil"))
    }

    @Test func onItsQueueAClientMayBeNotified() {
      let place = Place()
      let journal = Journal()
      let client = kept(Listener { number in journal.write("\(number)") })
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(client, on: place.queue)
      place.queue.sync { _ = delegates.notify { $0.ping(1) } }
      #expect(journal.read() == "1")
    }

    @Test @MainActor func onTheMainActorAClientOfTheMainQueueMayBeNotified() {
      let journal = Journal()
      let client = kept(Listener { number in journal.write("\(number)") })
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(client, on: .main)
      delegates.notify { $0.ping(1) }
      #expect(journal.read() == "1")
    }

    @Test func aNotifyOutsideOfTheMainActorStops() async {
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
      let place = Place("storage")
      let delegates = MulticastDelegate<any PingProtocol>()
      delegates.add(kept(Listener { _ in }), on: place.queue)
      await post(delegates)
    }

    private static func expectMisplaced(_ result: ExitTest.Result?) {
      #expect(text(result).contains("a post to PingProtocol on the main actor"))
      #expect(text(result).contains("on the queue storage"))
    }

    @Test func aBodyThatNamesAnotherActorThanTheClientsStops() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { delegates in
          await MainActor.run { _ = delegates.postOnMain { $0.ping(1) } }
        }
      }
      Self.expectMisplaced(result)
    }

    @Test func aBodyThatNamesAnotherActorStopsAPostFromElsewhereToo() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { delegates in
          delegates.postOnMain { $0.ping(1) }
          // The second one would come after the first one.
          await delegates.postOnMain { $0.ping(2) }.delivered()
        }
      }
      Self.expectMisplaced(result)
    }

    @Test func aBodyThatNamesAnotherActorStopsAPostThatWaitsToo() async {
      let result = await #expect(processExitsWith: .crash, observing: .errors) {
        await Self.misplace { await $0.postOnMain { $0.ping(1) }.delivered() }
      }
      Self.expectMisplaced(result)
    }

    // MARK: - Without a home

    /// As a class does that adds itself in its nonisolated `init`.
    private static func add(_ client: Listener, to center: MulticastCenter, explicitly: Bool) {
      if explicitly {
        center.add(client, for: PingProtocol.self, on: nil)
      } else {
        center.add(client, for: PingProtocol.self)
      }
    }

    @Test(arguments: ["notify", "post"]) func aClientOfTheMainThreadWithoutAHomeIsNamedOnce(
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
      #expect(message.components(separatedBy: "MulticastTests/HomeCheckTests.swift:").count == 3)
      #expect(message.contains("on: nil"))
    }

    @Test func whoIsSaidToLiveAnywhereIsNotNamed() async {
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
