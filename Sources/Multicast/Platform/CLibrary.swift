// What the package uses of the C library, whose name differs between systems.

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

/// Finds functions in the loaded libraries by name.
package enum LoadedFunction {
  /// The address of a function; nil if no loaded library exports it.
  package static func address(of name: String) -> UnsafeMutableRawPointer? {
    #if os(Windows)  // not tested
      let functions = unsafe loadedLibraries().lazy.compactMap { library in
        unsafe GetProcAddress(library, name)
      }
      return unsafe functions.first.map { function in
        unsafe unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
      }
    #else
      return unsafe dlsym(everywhere, name)
    #endif
  }

  #if os(Windows)  // not tested
    /// Windows searches one library at a time.
    private static func loadedLibraries() -> [HMODULE] {
      let size = unsafe MemoryLayout<HMODULE>.stride
      var libraries = unsafe [HMODULE?](repeating: nil, count: 1024)
      var used: DWORD = 0
      let room = unsafe DWORD(libraries.count * size)
      _ = unsafe K32EnumProcessModules(GetCurrentProcess(), &libraries, room, &used)
      return unsafe libraries.prefix(Int(used) / size).compactMap { library in unsafe library }
    }
  #else
    /// RTLD_DEFAULT of C's headers, which Swift does not import.
    private static var everywhere: UnsafeMutableRawPointer? {
      #if canImport(Darwin)
        unsafe UnsafeMutableRawPointer(bitPattern: -2)
      #elseif os(Android) && _pointerBitWidth(_32)
        unsafe UnsafeMutableRawPointer(bitPattern: -1)
      #else
        nil
      #endif
    }
  #endif
}

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

/// A pointer that each thread has for itself, initially nil. Its address is constant while the thread lives.
///
/// Swift has no thread-local variables, so the C library provides it. The pointer owns nothing. Its memory is
/// freed at the thread's end.
@safe
struct ThreadSpecificPointer<Pointee>: Sendable {
  private let key = ThreadSpecificKey()

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
