// What the library uses of Dispatch, as Apple's SDK declares it: for the check of the oldest systems, where no SDK is.

public class DispatchObject {}

public final class DispatchQueue: DispatchObject, @unchecked Sendable {
  public class var main: DispatchQueue { fatalError() }
  public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }

  public var label: String { fatalError() }
  public func async(execute work: @escaping @Sendable () -> Void) {}
  public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
}

public final class DispatchSpecificKey<T>: @unchecked Sendable { public init() {} }

public struct DispatchQoS {
  public enum QoSClass { case background, utility, `default`, userInitiated, userInteractive }
}
