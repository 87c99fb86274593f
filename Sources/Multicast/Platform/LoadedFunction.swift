#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif os(Windows)
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
