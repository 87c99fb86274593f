#if canImport(Darwin)
  import Darwin
#endif

extension Actor {
  /// Whether the current thread is running inside this actor; nil if that cannot be found out.
  ///
  /// The concurrency library offers `assertIsolated` and `assumeIsolated`, which stop the program if
  /// it is not so, and no question that can be answered with no. The runtime has one. It is looked up
  /// by name, so that where it is missing (before macOS 26 and its relatives, and in statically linked
  /// programs) only the answer is; and not even that for the main actor on Apple's systems.
  nonisolated var isCurrent: Bool? {
    guard let question = RuntimeQuestion.isCurrentExecutor else {
      #if canImport(Darwin)
        // The main actor is where the main thread is.
        if self === MainActor.shared { return pthread_main_np() != 0 }
      #endif
      return nil
    }
    // The reference is two words, which the runtime takes in two registers, as C would. Flags of 0
    // ask for an answer rather than an assertion.
    let executor = unsafe unsafeBitCast(unownedExecutor, to: (UInt, UInt).self)
    if question(executor.0, executor.1, 0) { return true }
    // Outside of any task, the runtime asks an executor that is not its own, and takes one that cannot
    // answer for one that says no. An executor of the runtime's own has a second word of 0.
    let isCustom = executor.1 != 0 && self !== MainActor.shared
    let isOutsideOfTasks = unsafe withUnsafeCurrentTask { task in unsafe task == nil }
    return isCustom && isOutsideOfTasks ? nil : false
  }

  /// Whether code that was written in `isolation`, and is running now, runs inside this actor. False
  /// if that cannot be found out.
  nonisolated func isCurrent(from isolation: (any Actor)?) -> Bool {
    isolation === self || isCurrent == true
  }
}

private enum RuntimeQuestion {
  typealias IsCurrentExecutor = @convention(c) (UInt, UInt, UInt64) -> Bool

  static let isCurrentExecutor: IsCurrentExecutor? = {
    guard
      let address = unsafe LoadedFunction.address(of: "swift_task_isCurrentExecutorWithFlags")
    else { return nil }
    return unsafe unsafeBitCast(address, to: IsCurrentExecutor.self)
  }()
}
