#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

import Testing

extension ExitTest.Condition {
  /// What a fatal error ends a process with. Those that begin from here on print no backtrace: each takes
  /// seconds.
  static var crash: Self {
    setenv("SWIFT_BACKTRACE", "enable=no", 0)
    return .failure
  }
}

extension [PartialKeyPath<ExitTest.Result> & Sendable] {
  /// To observe what an exit test's process writes on standard error.
  static var errors: Self { [\.standardErrorContent] }
}

/// What an exit test's process wrote on standard error.
func text(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}
