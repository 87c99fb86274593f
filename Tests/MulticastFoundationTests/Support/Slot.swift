import Multicast

/// A variable for any thread, to be read by a closure that is made before it has its value.
final class Slot<Value: Sendable>: Sendable {
  private let contents = Locked<Value?>(nil)

  var value: Value? {
    get { contents.withLock { $0 } }
    set { contents.withLock { $0 = newValue } }
  }
}
