// A system without Dispatch has no queues. With these types in the place of Dispatch's, nothing else has to
// know. A file that needs Dispatch imports it under the same condition.

#if !canImport(Dispatch) || os(WASI)
  /// A dispatch queue. This system has none.
  public final class DispatchQueue: Sendable {
    static var main: DispatchQueue { fatalError("Multicast: this system has no dispatch queues") }

    func getSpecific<Value>(key: DispatchSpecificKey<Value>) -> Value? { nil }

    let label: String
    let address: UInt = 0
    let isGlobal = false

    /// Nobody calls it.
    private init(label: String) { self.label = label }

    func setSpecific<Value>(key: DispatchSpecificKey<Value>, value: Value?) {}

    func async(execute work: @escaping @Sendable () -> Void) {}
  }

  final class DispatchSpecificKey<Value>: Sendable {}
#endif
