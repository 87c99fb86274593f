#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Memory filled with 0. The system provides large blocks without touching them.
@safe
struct ZeroedMemory {
  let address: UnsafeMutableRawPointer

  init(byteCount: Int) {
    guard let address = unsafe calloc(byteCount, 1) else { fatalError("Multicast: out of memory") }
    unsafe self.address = address
  }

  func deallocate() { unsafe free(address) }
}
