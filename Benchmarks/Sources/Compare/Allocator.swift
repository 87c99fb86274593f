import CAllocator
import Foundation

/// What the process has allocated.
enum Allocator {
  /// The bytes in use, with what the allocator adds to each piece; nil if it does not say.
  static var bytesInUse: Int? {
    var bytes = allocator_bytes_in_use()
    // Tasks that have been told to end, do so some time later, and give back their memory then.
    for _ in 0..<100 {
      Thread.sleep(forTimeInterval: 0.002)
      let later = allocator_bytes_in_use()
      if later == bytes { break }
      bytes = later
    }
    return bytes == 0 ? nil : Int(bytes)
  }
}
