import MulticastPlatform

#if canImport(Darwin)
  import Darwin
#endif

/// Whether a thread runs in an actor, on a queue, or in another home.
enum Presence: Sendable {
  case here, elsewhere, unknown

  /// The actor has been deallocated.
  case ended
}

extension Actor {
  /// Whether this thread runs inside this actor. Code written in the actor `isolation` asks, which usually is the answer.
  ///
  /// The concurrency library only has `assertIsolated` and `assumeIsolated`, which stop the program. The
  /// runtime has a function that answers. Where it is missing (before macOS 26 and its relatives), the answer
  /// is unknown, except for the main actor.
  nonisolated func presence(from isolation: ObjectIdentifier? = nil) -> Presence {
    if isolation == ObjectIdentifier(self) { return .here }
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
    // Outside of tasks, the runtime asks a custom executor, and treats one that cannot answer as one that
    // says no. The second word of the runtime's own executors is 0.
    if executor.1 == 0 || self === MainActor.shared { return .elsewhere }
    let isOutsideOfTasks = unsafe withUnsafeCurrentTask { task in unsafe task == nil }
    return isOutsideOfTasks ? .unknown : .elsewhere
  }
}

extension TaskLocal {
  /// Binds a value while `body` runs, in the caller's actor.
  func bind<Result>(
    _ value: Value, in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    await withValue(value) {
      // The capture makes the closure run in the caller's actor. Without it, the closure leaves that actor, unless an
      // optimization removes the switch.
      _ = isolation
      return await body()
    }
  }
}

extension Task<Never, Never> {
  /// Identifies the current task among live ones; 0 outside of tasks.
  static var identity: Int { unsafe withUnsafeCurrentTask { task in unsafe task?.hashValue ?? 0 } }
}

/// The runtime's function that tells whether a thread runs inside an actor, where it is missing.
enum MissingFunction {
  /// Prints once in debug builds what does not work without the function.
  static let report: Void = {
    #if DEBUG
      StandardError.print(
        "Multicast: Swift's runtime on this system cannot tell whether code runs inside an actor. A post from a "
          + "nonisolated function inside an actor reaches the clients of that actor later instead of at once, and "
          + "calls outside of a client's actor are not found.")
    #endif
  }()
}
