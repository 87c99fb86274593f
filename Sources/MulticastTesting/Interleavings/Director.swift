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
  enum Choice {
    case job(UnownedJob)
    case paused(Participant)
    case letter(HeldHome)
  }

  struct State {
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

    /// The participant whose task is being made on the director's thread.
    var starting: (participant: Participant, thread: UInt)?

    /// Counts what comes, which tells whether the main actor still does something.
    var arrivals = 0

    var mayPause = true

    /// Whether the body has returned.
    var isOver = false

    var isCancelled = false

    /// Whether everything runs as soon as it can, because the run has ended.
    var isClosed = false
  }

  let state: Locked<State>

  /// Signaled when there may be something to choose.
  let news = DispatchSemaphore(value: 0)

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
      state.arrivals += 1
      if !state.homes.contains(where: { $0.id == home.id }) { state.homes.append(home) }
      if !state.known.contains(where: { $0.id == home.id }) { state.known.append(home) }
      return false
    }
    if isClosed { start(home, as: Participant()) } else { news.signal() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let participant = state.withLock { state in
      if state.isClosed { return Participant() as Participant? }
      state.arrivals += 1
      if let starting = state.starting, starting.thread == CurrentThread.id {
        state.starting = nil
        return starting.participant
      }
      if let current = state.current, current.isOneTask, current.isHere {
        current.jobs.append(job)
      } else {
        state.jobs.append(job)
      }
      return nil
    }
    if let participant { start(job, as: participant) } else { news.signal() }
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

  /// Lets others go first, where the thread begins and ends a delivery, and after each call.
  func observe(_ event: DeliveryEvent) {
    guard event.home == nil else { return }
    switch event.phase {
    case .began, .called, .ended: pause()
    case .left, .refused: break
    }
  }

  private func pause() {
    let known = state.withLock { state in
      state.arrivals += 1
      return state.mayPause ? state.known : nil
    }
    guard let known else { return }
    let occupied = Set(known.filter(\.isCurrent).map(\.id))
    let (participant, turn) = state.withLock { state in
      var participant: Participant?
      if !state.mayPause { return (nil as Participant?, nil as DispatchSemaphore?) }
      if state.current?.isHere == true {
        participant = state.current.take()
      } else if HeldHome.isOnMainActor {
        // A task of the run has come to the main actor before its turn.
        participant = Participant(.mainActor)
      }
      guard let participant else { return (nil, nil) }
      participant.occupied = occupied
      state.paused.append(participant)
      return (participant, participant.turn)
    }
    guard let participant else { return }
    turn?.signal()
    news.signal()
    participant.waitForResumption()
  }
}

// MARK: - Directing

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Director {
  /// Directs the run to its end, on this thread.
  func direct() {
    while let choice = choose() {
      switch choice {
      case .job(let job):
        let participant = Participant()
        take(participant) { start(job, as: participant) }
      case .paused(let participant): take(participant) { resume(participant) }
      case .letter(let home):
        let participant = Participant(
          home.isMainActor ? .mainActor : nil, isOneTask: home.isDefaultActor)
        take(participant) { start(home, as: participant) }
      }
    }
    close()
  }

  /// Gives a participant its turn, and waits for the end of it.
  private func take(_ participant: Participant, _ start: () -> Void) {
    let turn = DispatchSemaphore(value: 0)
    let isOnMainActor = state.withLock { state in
      state.current = participant
      participant.turn = turn
      return participant.stage == .mainActor
    }
    start()
    if ends(turn, onMainActor: isOnMainActor) { return }
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
    _ = ends(turn, onMainActor: isOnMainActor)
  }

  /// Waits for the end of a turn. Returns false if it does not end: code may wait for a thread that has paused, with a
  /// lock or with `sync`.
  ///
  /// It goes by what other threads get done meanwhile, and not by the time, which says little on a busy machine. The main
  /// actor may have much else to do.
  private func ends(_ turn: DispatchSemaphore, onMainActor: Bool) -> Bool {
    for _ in 0..<(onMainActor ? 3_000 : 200) {
      if turn.wait(timeout: .now() + .milliseconds(10)) == .success { return true }
      let isDone = DispatchSemaphore(value: 0)
      DispatchQueue(label: "Interleavings").async { isDone.signal() }
      isDone.wait()
    }
    return false
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
  private func waitForMainActor() {
    let isFree = state.withLock { state in !state.paused.contains { $0.stage == .mainActor } }
    guard isFree else { return }
    let participant = Participant(.mainActor)
    take(participant) { endOnMainActor(participant) }
  }

  /// Ends a turn of the main actor when its jobs are done, and those that they have left there.
  ///
  /// It does its jobs in their order, so a block at the end comes after them. Two rounds in which nothing comes are the
  /// end.
  func endOnMainActor(_ participant: Participant) {
    let (turn, arrivals) = state.withLock { (participant.turn, $0.arrivals) }
    endOnMainActor(participant, turn, since: arrivals, isSecond: false)
  }

  private func endOnMainActor(
    _ participant: Participant, _ turn: DispatchSemaphore, since arrivals: Int, isSecond: Bool
  ) {
    DispatchQueue.main.async { [self] in
      let now = state.withLock { $0.arrivals }
      if now == arrivals, isSecond { return end(participant, turn) }
      endOnMainActor(participant, turn, since: now, isSecond: now == arrivals)
    }
  }

  private func resume(_ participant: Participant) {
    // The block comes after all that the main actor has to do now.
    if participant.stage == .mainActor { endOnMainActor(participant) }
    participant.resume()
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
      !busy.contains(home.id)
        && !paused.contains { $0.occupied.contains(home.id) || $0.blocks(home) }
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
    home.isMainActor && stage == .mainActor
  }
}
