#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A pointer that every thread has for itself, nil at first, kept at an address that stays the same while
/// the thread lives.
///
/// Swift has no thread-local variables of its own, so this is the C library's. The pointer owns nothing,
/// and the memory that it is kept in goes with the thread.
@safe
struct ThreadSpecificPointer<Pointee>: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { memory in unsafe free(memory) }
    guard status == 0 else {
      fatalError("Multicast: no thread-specific key is left in this process (error \(status))")
    }
    self.key = key
  }

  /// Where the current thread's pointer is kept.
  var address: UnsafeMutablePointer<UnsafeMutablePointer<Pointee>?> {
    if let memory = unsafe pthread_getspecific(key) {
      return unsafe memory.assumingMemoryBound(to: UnsafeMutablePointer<Pointee>?.self)
    }
    return unsafe makeAddress()
  }

  private func makeAddress() -> UnsafeMutablePointer<UnsafeMutablePointer<Pointee>?> {
    guard
      let memory = unsafe malloc(MemoryLayout<UnsafeMutablePointer<Pointee>?>.size),
      unsafe pthread_setspecific(key, memory) == 0
    else { fatalError("Multicast: no memory for a thread-specific pointer") }
    return unsafe memory.initializeMemory(as: UnsafeMutablePointer<Pointee>?.self, to: nil)
  }
}
