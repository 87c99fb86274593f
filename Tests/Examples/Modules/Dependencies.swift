// What the examples use of swift-dependencies, for where it cannot be imported. Nothing of it works.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol TestDependencyKey {
  associatedtype Value: Sendable = Self
  static var testValue: Value { get }
}

public protocol DependencyKey: TestDependencyKey {
  static var liveValue: Value { get }
}

public struct DependencyValues: Sendable {
  public subscript<Key: TestDependencyKey>(key: Key.Type) -> Key.Value {
    get { fatalError() }
    set {}
  }
}

@propertyWrapper public struct Dependency<Value>: Sendable {
  public init(_ keyPath: KeyPath<DependencyValues, Value> & Sendable) {}
  public var wrappedValue: Value { fatalError() }
}

public func withDependencies<Result>(
  _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result { fatalError() }
