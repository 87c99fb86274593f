#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A line on standard error that says what is being measured; none if that is not a terminal.
struct Progress: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1

  func show(_ text: String) {
    // The escape sequence erases what is left of a longer line before.
    if isShown { StandardError.write("\r\(text)\u{1B}[K") }
  }

  func clear() {
    if isShown { StandardError.write("\r\u{1B}[K") }
  }
}
