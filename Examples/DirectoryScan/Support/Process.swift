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

extension CommandLine {
  /// What follows the program's name; `arguments` loses what is not UTF-8.
  static var argumentBytes: [[UInt8]] {
    (1..<max(1, Int(argc))).compactMap { index in
      unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }
}

/// Ctrl-C.
enum Interrupt {
  private static let hasCome = Atomic(false)

  /// Calls a handler after Ctrl-C. Another Ctrl-C ends the program, as it does without this.
  ///
  /// It looks again and again, which is right everywhere: on Linux, a dispatch source does not see
  /// signals if the program's `main` is asynchronous.
  @MainActor static func handle(_ handler: @escaping @MainActor () -> Void) {
    hasCome.store(false, ordering: .relaxed)
    signal(SIGINT) { _ in
      // Only what may be done in the midst of anything.
      Interrupt.hasCome.store(true, ordering: .relaxed)
      signal(SIGINT, SIG_DFL)
    }
    Task {
      while !hasCome.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(50)) }
      handler()
    }
  }
}
