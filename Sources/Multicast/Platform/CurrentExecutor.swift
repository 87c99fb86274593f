import MulticastPlatform

#if canImport(Darwin)
  import Darwin
#endif

/// Whether this thread runs in a home, such as an actor or a queue.
enum Presence: Sendable {
  case here, elsewhere

  /// The system cannot answer: see `Actor.presence()` and ``MarkedQueue/presence``.
  case unknown

  /// The actor has been deallocated.
  case ended
}

extension Actor {
  /// Whether this thread runs inside this actor.
  ///
  /// The concurrency library contains `assertIsolated` and `assumeIsolated`, which stop the program if the answer is no. The
  /// runtime contains a function that returns the answer. Where it is missing (before macOS 26 and its relatives), the answer
  /// is `unknown`, except for the main actor.
  ///
  /// Call this with no lock held, because a custom executor may run code of its own to answer.
  nonisolated func presence() -> Presence {
    guard multicast_knows_current_executor() else {
      #if canImport(Darwin)
        if self === MainActor.shared { return pthread_main_np() != 0 ? .here : .elsewhere }
      #endif
      MissingFunction.report
      return .unknown
    }
    // An executor reference is two words.
    let executor = unsafe unsafeBitCast(unownedExecutor, to: (UInt, UInt).self)
    if multicast_is_current_executor(executor.0, executor.1) { return .here }
    // The runtime has answered no. Outside tasks, that is no answer if the executor is a custom one: the runtime asks it, and
    // treats an executor that cannot answer like one that answers no. The second word of the runtime's own executors is 0.
    if executor.1 == 0 || self === MainActor.shared { return .elsewhere }
    let isOutsideOfTasks = unsafe withUnsafeCurrentTask { task in unsafe task == nil }
    return isOutsideOfTasks ? .unknown : .elsewhere
  }
}

/// Whether this thread runs in the actor at an address, which may be deallocated. False for an actor with a custom executor.
///
/// The runtime only compares the address with that of the current executor, because the second word, 0, is that of its own
/// executors.
func isInActor(at address: UInt) -> Bool {
  multicast_knows_current_executor() && multicast_is_current_executor(address, 0)
}

extension TaskLocal {
  /// Binds a value while `body` runs, and runs `body` in the caller's actor.
  func bind<Result>(
    _ value: Value, in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    await withValue(value) {
      // A closure runs in the caller's actor only if it captures the isolated parameter. Without this line, it leaves the
      // actor, unless an optimization removes the switch.
      _ = isolation
      return await body()
    }
  }
}

extension Task<Never, Never> {
  /// A hash of the current task; 0 outside tasks. Two tasks have the same hash with a probability of one in 2⁶⁴, or 2³² where
  /// pointers have 32 bits.
  static var identity: Int { unsafe withUnsafeCurrentTask { task in unsafe task?.hashValue ?? 0 } }
}

/// Reports that the runtime lacks the function that `Actor.presence()` calls.
enum MissingFunction {
  /// Prints once, in a debug build, what does not work without the function.
  static let report: Void = {
    #if DEBUG
      StandardError.print(
        "Multicast: Swift's runtime on this system cannot report whether code runs inside an actor. A post from a "
          + "nonisolated function inside an actor, and an observe of a topic that keeps its latest message, call the listeners "
          + "of that actor after they return instead of before, and calls outside a client's actor are not detected."
      )
    #endif
  }()
}
