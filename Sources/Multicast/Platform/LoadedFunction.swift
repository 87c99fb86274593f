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

/// Finds functions by their names in everything that is loaded into the process.
package enum LoadedFunction {
  /// The address of the function with this name; nil if nothing that is loaded exports one.
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
    /// The handle that stands for everything. C's headers call it RTLD_DEFAULT, and Swift does not import
    /// it. It is nil in most systems; Darwin finds nothing with nil.
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
