import Dispatch
import Multicast

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director {
  private func begin(_ participant: Participant) {
    state.withLock { _ in participant.stage = .thread(CurrentThread.id) }
  }

  /// Ends a participant's turn: its present one, or an earlier one, which has ended already.
  func end(_ participant: Participant, _ turn: DispatchSemaphore? = nil) {
    let turn = state.withLock { state in
      if state.current === participant, turn == nil || turn === participant.turn {
        state.current = nil
      }
      return turn ?? participant.turn
    }
    turn.signal()
  }

  func start(_ job: UnownedJob, as participant: Participant) {
    // A queue of its own, so that a job that pauses holds up no other.
    DispatchQueue(label: "Interleavings").async { [self] in
      begin(participant)
      var next: UnownedJob? = job
      while let job = next {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        next = state.withLock { _ in participant.jobs.popLast() }
      }
      end(participant)
    }
  }

  /// Makes a home handle its next letter.
  func start(_ home: HeldHome, as participant: Participant) {
    switch home.kind {
    case .queue(let queue):
      queue.async { [self] in
        begin(participant)
        home.handleNext()
        end(participant)
      }
    case .mainActor:
      Task.detached { @MainActor [self] in
        home.handleNext()
        endOnMainActor(participant)
      }
    case .actor(nil, _):
      home.discardAll()
      end(participant)
    case .actor(let actor?, hasOwnExecutor: true):
      Task.detached { [self] in await handle(home, as: participant, isolation: actor) }
    case .actor(let actor?, hasOwnExecutor: false):
      start(home, as: participant) { await $0.handleNext(in: home, isolation: actor) }
    case .task:
      start(home, as: participant) { director in
        await home.handleNextAwaiting()
        director.hasHandled(home)
      }
    }
  }

  private func handle(
    _ home: HeldHome, as participant: Participant, isolation: isolated any Actor
  ) {
    begin(participant)
    home.handleNext()
    end(participant)
  }

  private func handleNext(in home: HeldHome, isolation: isolated any Actor) {
    home.handleNext()
    hasHandled(home)
  }

  private func hasHandled(_ home: HeldHome) {
    state.withLock { state in _ = state.busy.remove(home.id) }
    news.signal()
  }

  /// Starts a task that handles a home's next letter. Its first job takes the turn.
  private func start(
    _ home: HeldHome, as participant: Participant,
    _ handle: @escaping @Sendable (Director) async -> Void
  ) {
    state.withLock { state in
      state.busy.insert(home.id)
      state.starting = (participant, CurrentThread.id)
    }
    Task.detached(executorPreference: self) { [self] in await handle(self) }
  }
}

extension HeldHome {
  var isMainActor: Bool {
    if case .mainActor = kind { true } else { false }
  }

  var isDefaultActor: Bool {
    if case .actor(_?, hasOwnExecutor: false) = kind { true } else { false }
  }
}
