import Multicast
import MulticastTesting
import TestSupport
import Testing

@Suite(.ownCenter) struct TopicRecorderTests {
  let center = MulticastCenter.current

  @Test func itRecordsInTheOrderOfThePosts() async throws {
    let recorder = TopicRecorder(center, .login)
    for id in 1...3 { center.post(.login, Login(id: id)) }
    #expect(try await recorder.next() == Login(id: 1))
    #expect(try await recorder.next() == Login(id: 2))
    #expect(recorder.all.map(\.id) == [1, 2, 3])
    #expect(try await recorder.next() == Login(id: 3))
  }

  @Test func itWaitsForAPostOfAnotherTask() async throws {
    let recorder = TopicRecorder(center, .login)
    Task {
      for id in 1...100 {
        await Task.yield()
        center.post(.login, Login(id: id))
      }
    }
    for id in 1...100 { #expect(try await recorder.next().id == id) }
  }

  @Test func severalWhoWaitGetDifferentMessages() async throws {
    let recorder = TopicRecorder(center, .login)
    async let one = recorder.next()
    async let other = recorder.next()
    for id in 1...2 { center.post(.login, Login(id: id)) }
    #expect(try await [one.id, other.id].sorted() == [1, 2])
  }

  @Test func aLatestMessageIsTheFirst() async throws {
    let topic = Topic<Int>("level", keepsLatest: true)
    center.post(topic, 1)
    let recorder = TopicRecorder(center, topic)
    center.post(topic, 2)
    #expect(try await recorder.next() == 1)
    #expect(try await recorder.next() == 2)
  }

  @Test func whatNobodyHoldsDoesNotRecord() {
    _ = TopicRecorder(center, .login)
    #expect(center.post(.login, Login(id: 1)).clients == 0)
  }

  @Test func aWaitThatIsCancelledTellsWhatWasRecorded() async throws {
    let recorder = TopicRecorder(center, .login)
    for id in 1...2 { center.post(.login, Login(id: id)) }
    let (taken, hasTaken) = AsyncStream<Void>.makeStream()
    let wait = Task {
      for _ in 1...2 { _ = try await recorder.next() }
      hasTaken.finish()
      _ = try await recorder.next()
    }
    for await _ in taken {}
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(
      error?.description == """
        The wait for a message of \(Topic<Login>.login) was cancelled, as by a time limit. Recorded until then:
          1. Login(id: 1)
          2. Login(id: 2)
        """)
    // Who was cancelled has taken nothing.
    center.post(.login, Login(id: 3))
    #expect(recorder.all.count == 3)
  }

  @Test func withNothingRecordedTheErrorSaysSo() async throws {
    let recorder = TopicRecorder(center, .login)
    let wait = Task { try await recorder.next() }
    wait.cancel()
    let error = await #expect(throws: NothingRecorded.self) { try await wait.value }
    #expect(error?.description.hasSuffix("Nothing was recorded.") == true)
  }

  // MARK: - Exhaustive

  @Test func anExhaustiveOneFailsATestThatLeavesMessages() async throws {
    let issues = try await issues {
      try await OwnCenter.ownCenter.run {
        _ = TopicRecorder(.current, .login, exhaustive: true)
        for id in 1...2 { MulticastCenter.current.post(.login, Login(id: id)) }
      }
    }
    #expect(
      issues == [
        """
        Nobody has taken these messages of \(Topic<Login>.login), and their recorder is exhaustive:
          Login(id: 1)
          Login(id: 2)
        """
      ])
  }

  @Test func anExhaustiveOneThatWasEmptiedPasses() async throws {
    try await OwnCenter.ownCenter.run {
      let recorder = TopicRecorder(.current, .login, exhaustive: true)
      MulticastCenter.current.post(.login, Login(id: 1))
      let login = try await recorder.next()
      #expect(login.id == 1)
    }
  }

  @Test func anExhaustiveOneIsLookedAtAfterEachRunOfAnExploration() async throws {
    let issues = try await issues {
      try await Interleavings.explore(3) { center in
        let recorder = TopicRecorder(center, .login, exhaustive: true)
        center.post(.login, Login(id: 1))
        extendLifetime(recorder)
      }
    }
    // It ends with the first run that fails.
    #expect(issues.count == 1 && issues[0].contains("Nobody has taken these messages"))
  }
}

@Suite struct ExhaustiveRecorderTests {
  @Test func withoutATraitNobodyLooksAtIt() async throws {
    let issues = try await issues {
      _ = TopicRecorder(MulticastCenter(), .login, exhaustive: true)
    }
    #expect(issues.count == 1 && issues[0].contains(".ownCenter"))
  }
}

extension OwnCenter {
  /// Runs a body as a test with this trait.
  func run(_ body: @Sendable () async throws -> Void) async throws {
    try await provideScope(
      for: try #require(Test.current), testCase: Test.Case.current, performing: body)
  }
}
