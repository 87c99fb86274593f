#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A pointer that every thread has for itself; nil at first.
///
/// Swift has no thread-local variables of its own, so this is the C library's. It owns nothing, and a
/// thread that ends leaves nothing behind.
struct ThreadSpecificPointer: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    guard status == 0 else {
      fatalError("Multicast: no thread-specific key is left in this process (error \(status))")
    }
    self.key = key
  }

  var value: UnsafeMutableRawPointer? {
    get { unsafe pthread_getspecific(key) }
    nonmutating set {
      let status = unsafe pthread_setspecific(key, newValue)
      guard status == 0 else {
        fatalError("Multicast: no memory for a thread-specific value (error \(status))")
      }
    }
  }
}
