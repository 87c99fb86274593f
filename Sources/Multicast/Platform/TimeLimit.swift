#if canImport(Dispatch)
  import Dispatch
#endif

/// Calls a function once, when a number of seconds has passed, unless it is cancelled before that.
///
/// It is a timer of Dispatch. `asyncAfter` would keep the function, and what that refers to, until the end of the time, and a task
/// may have to wait for a thread. On a system without Dispatch, it is a task that sleeps.
struct TimeLimit {
  #if canImport(Dispatch)
    private let timer: any DispatchSourceTimer

    init(seconds: Double, _ body: @escaping @Sendable () -> Void) {
      timer = DispatchSource.makeTimerSource(queue: .global())
      timer.setEventHandler(handler: body)
      timer.schedule(deadline: .now() + seconds)
      timer.activate()
    }

    func cancel() { timer.cancel() }
  #else
    private let task: Task<Void, any Error>

    init(seconds: Double, _ body: @escaping @Sendable () -> Void) {
      let nanoseconds = UInt64(min(max(seconds, 0), 1e9) * 1e9)
      task = Task.detached {
        try await Task.sleep(nanoseconds: nanoseconds)
        body()
      }
    }

    func cancel() { task.cancel() }
  #endif
}
