import Foundation

/// Why the system refused something.
struct SystemError: Error {
  let code: Int32

  /// The error of the call that has just failed on this thread.
  static var last: SystemError { SystemError(code: errno) }

  /// Whether the item is there no longer, or is no longer what it was.
  var meansVanished: Bool {
    // ESRCH is what /proc says of a process that has ended; ENOTDIR and ELOOP are what comes of
    // opening something as a folder or a file that has meanwhile become something else.
    [ENOENT, ENOTDIR, ELOOP, ESRCH].contains(code)
  }
}

extension SystemError: CustomStringConvertible {
  /// The error in the system's words.
  var description: String { String(cString: strerror(code)) }
}

/// Calls the system with a path or a name, again for as long as signals interrupt it.
///
/// - Returns: What the call returned, which is not -1.
@discardableResult
func callSystem(
  with path: some Collection<UInt8>, _ call: (UnsafePointer<CChar>) -> Int32
) throws(SystemError) -> Int32 {
  var string: [CChar] = []
  string.reserveCapacity(path.count + 1)
  for byte in path { string.append(CChar(bitPattern: byte)) }
  string.append(0)
  while true {
    let result = call(string)
    if result != -1 { return result }
    let error = SystemError.last
    if error.code != EINTR { throw error }
  }
}
