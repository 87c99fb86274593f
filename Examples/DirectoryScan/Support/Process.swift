import Foundation
import Synchronization

/// Makes writes to a closed stream or pipe fail without further effects.
func prepareStandardStreams() {
  // Opening a file takes the lowest free number, perhaps that of a closed stream. The read-only
  // /dev/null takes it first.
  var descriptor: Int32
  repeat { descriptor = open("/dev/null", O_RDONLY) } while (0...2).contains(descriptor)
  close(descriptor)
  signal(SIGPIPE, SIG_IGN)
}

private let interrupted = Atomic(false)

/// Calls a handler after Ctrl-C. Another Ctrl-C ends the program.
///
/// It polls, because on Linux a dispatch source receives no signals if `main` is asynchronous.
@MainActor func onInterrupt(_ handler: @escaping @MainActor () -> Void) {
  interrupted.store(false, ordering: .relaxed)
  signal(SIGINT) { _ in
    // Only what a signal handler may do.
    interrupted.store(true, ordering: .relaxed)
    signal(SIGINT, SIG_DFL)
  }
  Task {
    while !interrupted.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(50)) }
    handler()
  }
}
