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

/// Memory filled with 0. The system provides large blocks without touching them.
@safe
struct ZeroedMemory {
  let address: UnsafeMutableRawPointer

  init(byteCount: Int) {
    guard let address = unsafe multicast_allocate_zeroed(byteCount) else {
      fatalError("Multicast: out of memory")
    }
    unsafe self.address = address
  }

  func deallocate() { unsafe multicast_free(address) }
}
