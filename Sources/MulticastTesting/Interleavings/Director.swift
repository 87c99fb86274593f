import Multicast

/// Decides by a seed which home handles its next letter, in one run of an exploration.
///
/// A director has no thread, and no thread waits for it. It chooses a letter when the one before has been handled, and when a
/// task begins to wait. One letter at a time is handled, unless its handler waits for others. A task that no longer needs to
/// wait goes on when no letter is being handled. If a time limit or a cancellation ends its wait, it goes on immediately, because a
/// handler may run forever. Then it runs beside that handler, and the seed does not decide which of them posts first.
final class Director: LetterScheduler {
  /// The director of the run that this code is part of; nil outside a run.
  @TaskLocal static var current: Director?

  /// What goes on next.
  fileprivate enum Turn {
    case letter(HeldHome)
    case task(@Sendable () -> Void)
  }

  fileprivate struct State {
    var numbers: SeededNumbers

    /// The homes in which letters are held, in the order in which they received the first of them.
    var homes: [HeldHome] = []

    /// The number of letters that are being handled, except those whose handlers wait for others.
    var active = 0

    /// The number of tasks that wait for letters, except those of handlers that are being called. Letters move while it is not 0.
    var waiting = 0

    /// The functions that resume the tasks that no longer need to wait.
    var ready: [(isInCall: Bool, resume: @Sendable () -> Void)] = []

    /// The functions that resume the tasks in ``Interleavings/step()``, each when the seed chooses it.
    var steps: [@Sendable () -> Void] = []

    /// Whether the run has ended, so that letters are no longer held.
    var isClosed = false

    var letters = LetterJournal()
  }

  private let state: Locked<State>

  init(seed: UInt64) {
    state = Locked(State(numbers: SeededNumbers(seed: seed)))
  }

  /// The letters that have been handled, in the order in which they were.
  var letters: [String] { state.withLock { $0.letters.lines } }

  func observe(_ event: DeliveryEvent) { state.withLock { $0.letters.observe(event) } }

  /// Lets letters be handled and tasks go on, one after the other, until there is nothing to choose.
  private func goOn() {
    while let turn = state.withLock({ $0.chooseTurn() }) {
      switch turn {
      case .task(let resume): resume()
      case .letter(let home):
        Task.detached { [self] in
          await home.handleNext { [self] delivery, message in
            let text = "\(message)"
            state.withLock { $0.letters.note(text, of: delivery) }
          }
          state.withLock { $0.active -= 1 }
          goOn()
        }
      }
    }
  }

  /// Ends the run. All letters that are held are handled, and all tasks that wait go on.
  func close() {
    let (homes, tasks) = state.withLock { state in
      state.isClosed = true
      defer { (state.homes, state.ready, state.steps) = ([], [], []) }
      return (state.homes, state.ready.map(\.resume) + state.steps)
    }
    for resume in tasks { resume() }
    for home in homes { home.startDrain() }
  }
}

// MARK: - What the center and the body report

extension Director {
  func hold(_ home: HeldHome) -> Bool {
    let isHeld = state.withLock { state in
      if state.isClosed { return false }
      if !state.homes.contains(where: { $0.id == home.id }) { state.homes.append(home) }
      return true
    }
    goOn()
    return isHeld
  }

  func beginWait(inCall isInCall: Bool) {
    state.withLock { $0.countWait(1, isInCall) }
    goOn()
  }

  func endWait(
    inCall isInCall: Bool, early isEarly: Bool, _ resume: @escaping @Sendable () -> Void
  ) {
    let goesOnNow = state.withLock { state in
      if isEarly {
        // Even before the wait begins, which then makes up for it.
        state.countWait(-1, isInCall)
      } else if !state.isClosed {
        state.ready.append((isInCall, resume))
      }
      return isEarly || state.isClosed
    }
    if goesOnNow { resume() } else { goOn() }
  }

  /// Returns when the seed chooses this task, at the latest when no letter waits.
  func step() async {
    await withCheckedContinuation { continuation in
      let isClosed = state.withLock { state in
        if !state.isClosed { state.steps.append { continuation.resume() } }
        return state.isClosed
      }
      if isClosed { continuation.resume() } else { goOn() }
    }
  }
}

extension Director.State {
  /// Counts a task that begins or ends to wait. If it does that in a call, its letter does not keep others from being handled.
  fileprivate mutating func countWait(_ change: Int, _ isInCall: Bool) {
    if isInCall { active -= change } else { waiting += change }
  }

  /// Chooses what goes on next. Returns nil if a letter is being handled, or if the body does not wait.
  fileprivate mutating func chooseTurn() -> Director.Turn? {
    if active > 0 || isClosed { return nil }
    if waiting <= 0, steps.isEmpty { return nil }
    if !ready.isEmpty {
      let task = ready.removeFirst()
      countWait(-1, task.isInCall)
      return .task(task.resume)
    }
    // A thread that posts in such a home may have handled its letters.
    homes.removeAll { !$0.isReady }
    if homes.isEmpty, steps.isEmpty { return nil }
    let index = Int.random(in: 0..<homes.count + steps.count, using: &numbers)
    if index >= homes.count { return .task(steps.remove(at: index - homes.count)) }
    active += 1
    return .letter(homes[index])
  }
}

/// Random numbers that depend only on a seed, made with SplitMix64. The standard library's generator has no seed.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
