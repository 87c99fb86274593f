import Foundation
import Synchronization

/// Sees to it that a stream which is closed or no longer read is a matter of the write to it alone.
func prepareStandardStreams() {
  // What is opened takes the lowest number that is free. In place of a closed stream it would get
  // what is written to that, so something that cannot be written to takes the place.
  var descriptor: Int32
  repeat { descriptor = open("/dev/null", O_RDONLY) } while (0...2).contains(descriptor)
  close(descriptor)
  signal(SIGPIPE, SIG_IGN)
}

private let interrupted = Atomic(false)

/// Calls a handler after Ctrl-C. Another Ctrl-C ends the program, as it does without this.
///
/// Looking again and again is right everywhere. On Linux, a dispatch source does not see signals if
/// the program's `main` is asynchronous.
@MainActor func onInterrupt(_ handler: @escaping @MainActor () -> Void) {
  interrupted.store(false, ordering: .relaxed)
  signal(SIGINT) { _ in
    // Only what may be done in the midst of anything.
    interrupted.store(true, ordering: .relaxed)
    signal(SIGINT, SIG_DFL)
  }
  Task {
    while !interrupted.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(50)) }
    handler()
  }
}
