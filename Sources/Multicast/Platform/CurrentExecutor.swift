#if DEBUG
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  extension Actor {
    /// Whether the current thread is running inside this actor; nil if that cannot be found out.
    ///
    /// The concurrency library offers `assertIsolated` and `assumeIsolated`, which stop the program
    /// without saying what is wrong, and no question that can be answered with no. The runtime has one.
    /// It is looked up by name, so that where it is missing (before macOS 26 and its relatives, or in
    /// statically linked programs) only this check is missing. Debug builds only.
    nonisolated var isCurrent: Bool? {
      typealias Question = @convention(c) (UInt, UInt, UInt64) -> Bool
      let name = "swift_task_isCurrentExecutorWithFlags"
      guard let symbol = unsafe dlsym(nil, name) else { return nil }
      // The reference is two words, which the runtime takes in two registers, as C would. Flags of 0
      // ask for an answer rather than an assertion.
      let executor = unsafe unsafeBitCast(unownedExecutor, to: (UInt, UInt).self)
      return unsafe unsafeBitCast(symbol, to: Question.self)(executor.0, executor.1, 0)
    }
  }
#endif
