#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

import Multicast

/// The process that a test runs in.
enum Process {
  /// Whether a sanitizer is linked in. Its shadow memory and its quarantine hide what memory the
  /// program itself uses.
  static var isSanitized: Bool {
    ["__asan_init", "__tsan_init"].contains { loadedFunction($0) != nil }
  }

  /// The address of a function of any loaded library; nil if none exports it.
  private static func loadedFunction(_ name: String) -> UnsafeMutableRawPointer? {
    dlsym(dlopen(nil, RTLD_NOW), name)
  }

  /// Whether tests that repeat or measure do so at full size: in release, and where the environment says
  /// `MULTICAST_FULL_SIZE=1`. Never under a sanitizer.
  static let isFullSize: Bool = {
    #if DEBUG
      let isWanted = getenv("MULTICAST_FULL_SIZE").map { String(cString: $0) } == "1"
    #else
      let isWanted = true
    #endif
    return isWanted && !isSanitized
  }()

  /// How often something is done, at full size and otherwise.
  static func rounds(_ full: Int, quick: Int) -> Int { isFullSize ? full : quick }

  /// Whether the runtime can be asked if code runs inside an actor.
  static var knowsCurrentActor: Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
  }

  /// Gives the processor to another thread that wants it, so that waiting for one does not keep it waiting.
  static func letOthersRun() { sched_yield() }

  /// A number for the current thread, unlike that of every other one that is alive.
  static var currentThread: UInt {
    #if canImport(Glibc)
      pthread_self()
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// The bytes that the process has in memory; nil where this is not known.
  static var residentBytes: Int? {
    #if os(Linux)
      // What is free must not hide what is used next.
      if let trim = loadedFunction("malloc_trim") {
        _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
      }
      guard let file = fopen("/proc/self/statm", "r") else { return nil }
      defer { fclose(file) }
      var line = [UInt8](repeating: 0, count: 256)
      let length = fread(&line, 1, line.count, file)
      // The first number is that of all pages, the second that of the resident ones.
      let numbers = String(decoding: line.prefix(length), as: UTF8.self).split(separator: " ")
      return numbers.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    #else
      return nil
    #endif
  }
}
