import MulticastPlatform

/// The current thread.
package enum CurrentThread {
  /// Identifies it among live threads.
  package static var id: UInt { unsafe UInt(bitPattern: multicast_thread_slot()) }
}
