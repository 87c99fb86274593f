import MulticastPlatform

/// The process's standard error.
package enum StandardError {
  /// Writes a line with one system call, so that the lines of several threads do not mix unless the system splits a long one.
  package static func print(_ line: String) {
    unsafe multicast_write_error(line + "\n")
  }
}

#if DEBUG
  extension StandardError {
    /// The call sites for which a hint has been printed.
    private static let hinted = Locked<Set<CallSite>>([])

    /// Whether a hint has been printed for a call site. Ask before an expensive search for a mistake.
    static func hasHinted(at site: CallSite) -> Bool { hinted.withLock { $0.contains(site) } }

    /// The number of calls without listeners, by call site.
    private static let unheard = Locked<[CallSite: Int]>([:])

    /// Whether a call without listeners is to be examined: the first, second, fourth, eighth one and so on of a call site, until a
    /// hint has been printed for it. A program may rightly make very many such calls, and a search takes time.
    static func mayExamine(at site: CallSite) -> Bool {
      if hasHinted(at: site) { return false }
      return unheard.withLock { unheard in
        let count = unheard[site, default: 0] + 1
        unheard[site] = count
        return count & (count - 1) == 0
      }
    }

    /// Prints a hint for a call site, unless one has been printed for it before.
    static func hint(at site: CallSite, _ message: @autoclosure () -> String) {
      if hinted.withLock({ $0.insert(site).inserted }) { print("Multicast: \(message())") }
    }
  }
#endif

/// The system's time.
enum Clock {
  /// The nanoseconds since some moment in the past. The system promises that the number does not decrease. If it does
  /// nevertheless, a subtraction would stop the program: see ``now(notBefore:)``.
  static var now: UInt64 { multicast_now() }

  /// The time now, and not before an earlier one, so that the difference can be computed.
  static func now(notBefore earlier: UInt64) -> UInt64 { max(now, earlier) }
}
