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
  import WinSDK
#endif

/// A pointer that each thread has for itself, initially nil. Its address is constant while the thread lives.
///
/// Swift has no thread-local variables, so the C library provides it. The pointer owns nothing. Its memory is
/// freed at the thread's end.
@safe
struct ThreadSpecificPointer<Pointee>: Sendable {
  private let key = ThreadSpecificKey()

  /// The address of the current thread's pointer.
  var address: UnsafeMutablePointer<UnsafeMutablePointer<Pointee>?> {
    if let memory = unsafe key.memory {
      return unsafe memory.assumingMemoryBound(to: UnsafeMutablePointer<Pointee>?.self)
    }
    return unsafe makeAddress()
  }

  private func makeAddress() -> UnsafeMutablePointer<UnsafeMutablePointer<Pointee>?> {
    guard
      let memory = unsafe malloc(MemoryLayout<UnsafeMutablePointer<Pointee>?>.size),
      unsafe key.keep(memory)
    else { fatalError("Multicast: no memory for a thread-specific pointer") }
    return unsafe memory.initializeMemory(as: UnsafeMutablePointer<Pointee>?.self, to: nil)
  }
}

/// A thread-specific key. Its memory comes from `malloc` and is freed at the thread's end.
@safe
private struct ThreadSpecificKey: Sendable {
  #if os(Windows)  // not tested
    private let index: DWORD

    init() {
      index = unsafe FlsAlloc { memory in unsafe free(memory) }
      guard index != DWORD.max else {
        fatalError(
          "Multicast: no thread-specific key is left in this process (error \(GetLastError()))")
      }
    }

    var memory: UnsafeMutableRawPointer? { unsafe FlsGetValue(index) }

    func keep(_ memory: UnsafeMutableRawPointer) -> Bool { unsafe FlsSetValue(index, memory) }
  #else
    private let key: pthread_key_t

    init() {
      var key = pthread_key_t()
      let status = unsafe pthread_key_create(&key) { memory in unsafe free(memory) }
      guard status == 0 else {
        fatalError("Multicast: no thread-specific key is left in this process (error \(status))")
      }
      self.key = key
    }

    var memory: UnsafeMutableRawPointer? { unsafe pthread_getspecific(key) }

    func keep(_ memory: UnsafeMutableRawPointer) -> Bool {
      unsafe pthread_setspecific(key, memory) == 0
    }
  #endif
}
