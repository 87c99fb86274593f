import Dispatch

/// Runs `body` on another thread, and returns when it has ended.
package func onNewThread(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue(label: "test").async {
    body()
    done.signal()
  }
  done.wait()
}

/// Runs `body` on `count` threads at once, and returns when all have ended.
package func onThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count, execute: body)
}
