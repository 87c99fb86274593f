import Dispatch
import Multicast

/// Decides by a seed what runs next in one run of an exploration. One participant runs at a time.
///
/// A participant is a job of the run's tasks, a home that handles its next letter, or one of both that has paused where
/// it posts. The run's tasks are that of the body with its child tasks, and those of actors and of calls that await.
/// They prefer this executor, so nothing of theirs runs but when it is its turn.
///
/// The director has a thread of its own, which blocks. So do participants that pause: on threads that the director
/// has started, on those of users' queues, and on the main thread, never on those of the cooperative pool.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class Director: LetterScheduler, TaskExecutor {
  /// How long a turn may take while others are paused. Code may wait for a thread that has paused, with a lock or
  /// with `sync`. Then nobody pauses any more.
  private static var patience: DispatchTimeInterval { .seconds(5) }

  fileprivate enum Choice {
    case job(UnownedJob)
    case paused(Participant)
    case letter(HeldHome)
  }

  fileprivate struct State {
    var numbers: SeededNumbers
    var jobs: [UnownedJob] = []

    /// Participants that have paused, in the order in which they did.
    var paused: [Participant] = []

    /// Homes with letters, in the order in which these came.
    var homes: [HeldHome] = []

    /// Homes whose task is on its way to a letter or handles it.
    var busy: Set<ObjectIdentifier> = []

    /// All homes that have had letters.
    var known: [HeldHome] = []

    /// The participant whose turn it is.
    var current: Participant?

    var mayPause = true

    /// Whether the body has returned.
    var isOver = false

    var isCancelled = false

    /// Whether everything runs as soon as it can, because the run has ended.
    var isClosed = false
  }

  private let state: Locked<State>

  /// Signaled when there may be something to choose.
  private let news = DispatchSemaphore(value: 0)

  init(seed: UInt64) {
    state = Locked(State(numbers: SeededNumbers(seed: seed)))
  }
}

// MARK: - What comes

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director {
  func hold(_ home: HeldHome) {
    let isClosed = state.withLock { state in
      if state.isClosed { return true }
      if !state.homes.contains(where: { $0.id == home.id }) { state.homes.append(home) }
      if !state.known.contains(where: { $0.id == home.id }) { state.known.append(home) }
      return false
    }
    if isClosed { start(home, as: Participant()) } else { news.signal() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isClosed = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return state.isClosed
    }
    if isClosed { start(job, as: Participant()) } else { news.signal() }
  }

  /// Ends the run when nothing is left to do.
  func bodyHasReturned() {
    state.withLock { $0.isOver = true }
    news.signal()
  }

  /// Ends the run when nothing is left to do, even if the body still waits.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    news.signal()
  }

  /// Lets others go first, where the thread begins and ends a delivery.
  func observe(_ event: DeliveryEvent) {
    guard event.home == nil else { return }
    switch event.phase {
    case .began, .ended: pause()
    default: break
    }
  }

  private func pause() {
    let known = state.withLock { state in
      state.mayPause && state.current?.isHere == true ? state.known : nil
    }
    guard let known else { return }
    let occupied = Set(known.filter(\.isCurrent).map(\.id))
    let participant = state.withLock { state in
      let participant = state.current.take()
      if let participant {
        participant.occupied = occupied
        participant.isPaused = true
        state.paused.append(participant)
      }
      return participant
    }
    participant?.turn.signal()
    participant?.waitForResumption()
  }
}

// MARK: - Directing

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director {
  /// Directs the run to its end, on this thread.
  func direct() {
    while let choice = choose() {
      let participant = Participant()
      switch choice {
      case .job(let job): take(participant) { start(job, as: participant) }
      case .paused(let participant): take(participant) { participant.resume() }
      case .letter(let home): take(participant) { start(home, as: participant) }
      }
    }
    close()
  }

  /// Gives a participant its turn, and waits for the end of it.
  private func take(_ participant: Participant, _ start: () -> Void) {
    let turn = DispatchSemaphore(value: 0)
    state.withLock { state in
      state.current = participant
      participant.turn = turn
      participant.isPaused = false
    }
    start()
    if turn.wait(timeout: .now() + Self.patience) == .success { return }
    let paused = state.withLock { state in
      state.mayPause = state.mayPause && state.paused.isEmpty
      return exchange(&state.paused, with: [])
    }
    if paused.isEmpty { return }
    StandardError.print(
      """
      Multicast: while orders are explored, something waits for a thread that has paused at a post: with a lock, or \
      with sync. Posts do not pause any more in this run.
      """)
    for participant in paused { participant.resume() }
    _ = turn.wait(timeout: .now() + Self.patience)
  }

  /// What comes next. Waits for it; nil at the end of the run.
  private func choose() -> Choice? {
    waitForMainActor()
    while true {
      let choice = state.withLock { state in state.choose() }
      if let choice { return choice }
      if state.withLock({ $0.isCancelled || $0.isOver && $0.busy.isEmpty }) { return nil }
      news.wait()
    }
  }

  /// Lets the main actor do what tasks of the run have left there, as one participant.
  ///
  /// It does its jobs in their order, so a block at the end comes after them. A job may leave another one.
  private func waitForMainActor() {
    for _ in 0..<2 {
      let isFree = state.withLock { state in !state.paused.contains { $0.stage == .mainActor } }
      guard isFree else { return }
      let participant = Participant()
      participant.stage = .mainActor
      take(participant) { DispatchQueue.main.async { self.end(participant) } }
    }
  }

  private func close() {
    let (homes, jobs, paused) = state.withLock { state in
      state.isClosed = true
      state.mayPause = false
      defer { (state.homes, state.jobs, state.paused, state.known) = ([], [], [], []) }
      return (state.homes, state.jobs, state.paused)
    }
    for participant in paused { participant.resume() }
    for home in homes { start(home, as: Participant()) }
    for job in jobs { start(job, as: Participant()) }
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director.State {
  fileprivate mutating func choose() -> Director.Choice? {
    homes.removeAll { !$0.isReady }
    let ready = homes.filter { home in
      !busy.contains(home.id) && !paused.contains { $0.occupied.contains(home.id) || $0.blocks(home) }
    }
    let count = jobs.count + paused.count + ready.count
    if count == 0 { return nil }
    let index = Int.random(in: 0..<count, using: &numbers)
    if index < jobs.count { return .job(jobs.remove(at: index)) }
    if index < jobs.count + paused.count { return .paused(paused.remove(at: index - jobs.count)) }
    return .letter(ready[index - jobs.count - paused.count])
  }
}

extension Participant {
  /// Whether a home cannot come to its letters while this is paused.
  fileprivate func blocks(_ home: HeldHome) -> Bool {
    if case .mainActor = home.kind { stage == .mainActor } else { false }
  }
}

// MARK: - Participants

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director {
  private func begin(_ participant: Participant, on stage: Participant.Stage? = nil) {
    let stage = stage ?? .thread(CurrentThread.id)
    state.withLock { _ in participant.stage = stage }
  }

  private func end(_ participant: Participant) {
    let turn = state.withLock { state in
      if state.current === participant { state.current = nil }
      return participant.turn
    }
    turn.signal()
  }

  private func start(_ job: UnownedJob, as participant: Participant) {
    // A queue of its own, so that a job that pauses holds up no other.
    DispatchQueue(label: "Interleavings").async { [self] in
      begin(participant)
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      end(participant)
    }
  }

  /// Makes a home handle its next letter.
  private func start(_ home: HeldHome, as participant: Participant) {
    switch home.kind {
    case .queue(let queue):
      queue.async { [self] in
        begin(participant)
        home.handleNext()
        end(participant)
      }
    case .mainActor:
      Task.detached { @MainActor [self] in
        begin(participant, on: .mainActor)
        home.handleNext()
        end(participant)
      }
    case .actor(nil, _):
      home.discardAll()
      end(participant)
    case .actor(let actor?, hasOwnExecutor: true):
      Task.detached { [self] in await handle(home, as: participant, isolation: actor) }
    case .actor(let actor?, hasOwnExecutor: false):
      start(home, as: participant) { await home.handleNext(isolation: actor) }
    case .task: start(home, as: participant) { await home.handleNextAwaiting() }
    }
  }

  private func handle(
    _ home: HeldHome, as participant: Participant, isolation: isolated any Actor
  ) {
    begin(participant)
    home.handleNext()
    end(participant)
  }

  /// Starts a task that handles a home's next letter. Its first job takes the turn.
  private func start(
    _ home: HeldHome, as participant: Participant, _ handle: @escaping @Sendable () async -> Void
  ) {
    state.withLock { state in _ = state.busy.insert(home.id) }
    Task.detached(executorPreference: self) { [self] in
      await handle()
      state.withLock { state in _ = state.busy.remove(home.id) }
      news.signal()
    }
    end(participant)
  }
}
