import Dispatch
import Multicast

/// A piece of code that runs when its director says so: a job, or the handling of a letter. Where it posts, it lets
/// others go first if the director wants it.
///
/// Unchecked, because the director's lock protects the variables.
final class Participant: @unchecked Sendable {
  /// The thread that it runs on, or the main actor, where other code runs, too.
  enum Stage: Equatable {
    case thread(UInt)
    case mainActor
  }

  /// Nil until it has begun.
  var stage: Stage?

  /// Whether it handles a letter in an actor, in the jobs of one task: they are one turn.
  let isOneTask: Bool

  /// The jobs that go on in this turn.
  var jobs: [UnownedJob] = []

  /// The homes that its thread was in when it paused. They do not come to their letters meanwhile.
  var occupied: Set<ObjectIdentifier> = []

  /// Signaled at the end of the turn.
  var turn = DispatchSemaphore(value: 0)

  private let resumption = DispatchSemaphore(value: 0)

  init(_ stage: Stage? = nil, isOneTask: Bool = false) {
    self.stage = stage
    self.isOneTask = isOneTask
  }

  func waitForResumption() { resumption.wait() }

  func resume() { resumption.signal() }

  /// Whether this thread runs it.
  var isHere: Bool {
    switch stage {
    case .thread(let thread): thread == CurrentThread.id
    case .mainActor: HeldHome.isOnMainActor
    case nil: false
    }
  }
}
