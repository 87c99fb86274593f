import MulticastPlatform

/// The process's standard error.
package enum StandardError {
  /// Writes a line in one piece, so the lines of several threads do not mix.
  package static func print(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe multicast_write_error(bytes.baseAddress, bytes.count)
    }
  }
}

#if DEBUG
  extension StandardError {
    private static let hinted = Locked<Set<CallSite>>([])

    /// Whether something has been said of a place in the source.
    static func hasHinted(at site: CallSite) -> Bool { hinted.withLock { $0.contains(site) } }

    /// Writes what is to be said of a place in the source, once for each.
    static func hint(at site: CallSite, _ message: @autoclosure () -> String) {
      if hinted.withLock({ $0.insert(site).inserted }) { print("Multicast: \(message())") }
    }
  }
#endif

/// The system's time.
enum Clock {
  /// Nanoseconds since some moment in the past. They never decrease.
  static var now: UInt64 { multicast_now() }
}
