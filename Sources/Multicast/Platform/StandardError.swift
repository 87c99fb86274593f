#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif os(Windows)
  import CRT
#endif

/// The process's standard error.
enum StandardError {
  /// Writes a line in one piece, so the lines of several threads do not mix.
  static func print(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    unsafe bytes.withUnsafeBytes { bytes in
      // A failure cannot be reported anywhere.
      #if os(Windows)  // not tested
        _ = unsafe _write(2, bytes.baseAddress, UInt32(bytes.count))
      #else
        _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
      #endif
    }
  }
}
