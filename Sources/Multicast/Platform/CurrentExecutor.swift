#if canImport(Darwin)
  import Darwin
#endif

extension Actor {
  /// Whether this thread runs inside this actor; nil if that is unknown.
  ///
  /// The concurrency library only has `assertIsolated` and `assumeIsolated`, which stop the program. The
  /// runtime has a function that answers. It is looked up by name. Where it is missing (before macOS 26 and
  /// its relatives, and in statically linked programs), the answer is nil, except for the main actor on
  /// Apple's systems.
  nonisolated var isCurrent: Bool? {
    guard let question = RuntimeQuestion.isCurrentExecutor else {
      #if canImport(Darwin)
        if self === MainActor.shared { return pthread_main_np() != 0 }
      #endif
      return nil
    }
    // An executor reference is two words, which are passed in two registers, as in C. Flags of 0 ask for an
    // answer and not for an assertion.
    let executor = unsafe unsafeBitCast(unownedExecutor, to: (UInt, UInt).self)
    if question(executor.0, executor.1, 0) { return true }
    // Outside of tasks, the runtime asks a custom executor, and treats one that cannot answer as one that
    // says no. The second word of the runtime's own executors is 0.
    let isCustom = executor.1 != 0 && self !== MainActor.shared
    let isOutsideOfTasks = unsafe withUnsafeCurrentTask { task in unsafe task == nil }
    return isCustom && isOutsideOfTasks ? nil : false
  }

  /// Whether code written in `isolation` runs inside this actor now. False if that is unknown.
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
