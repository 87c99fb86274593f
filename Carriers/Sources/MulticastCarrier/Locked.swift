import Foundation

/// A value that only one thread at a time can use.
///
/// The thread sanitizer understands this lock on every system. On Linux, it does not understand `Mutex`.
package final class Locked<State: Sendable>: @unchecked Sendable {
  // Unchecked, because the compiler does not know that `withLock` is the only access to the value.
  private var state: State
  private let lock = NSLock()

  package init(_ state: State) { self.state = state }

  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }
}
