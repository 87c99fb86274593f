import Dispatch
import Foundation
import Synchronization

/// Calls a handler on Ctrl-C. Another Ctrl-C ends the program, as it does without this.
///
/// To be made once. It does not use a dispatch source for signals: on Linux, this does not see signals
/// that the main thread lets through, and an asynchronous `main` lets all of them through.
final class Interrupts {
  /// The end of a pipe that the signal's handler writes to.
  private static let writer = Atomic<Int32>(-1)

  private let source: any DispatchSourceRead

  init(_ handler: @escaping @Sendable () -> Void) {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    let reader = ends[0]
    source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: .global())
    source.setEventHandler {
      var byte: UInt8 = 0
      if read(reader, &byte, 1) == 1 { handler() }
    }
    source.resume()
    Self.writer.store(ends[1], ordering: .releasing)
    // In here stands only what may be done in the midst of anything.
    signal(SIGINT) { _ in
      let code = errno
      var byte: UInt8 = 0
      write(Interrupts.writer.load(ordering: .acquiring), &byte, 1)
      signal(SIGINT, SIG_DFL)
      errno = code
    }
  }
}
