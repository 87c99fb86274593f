// What the examples use of SwiftUI, for where it cannot be imported. Nothing of it works.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

extension View where Body == Never {
  public var body: Never { fatalError() }
}

extension View {
  nonisolated public func task(
    @_inheritActorContext _ action: @escaping @isolated(any) @Sendable () async -> Void
  ) -> some View { self }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}

public struct Text: View {
  nonisolated public init(_ text: String) {}
}

public struct ProgressView: View {
  nonisolated public init(value: Double) {}
}

@propertyWrapper public struct State<Value> {
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public init(wrappedValue: Value) {}
}

// A macro needs a program of its own. `check-examples` takes the macro's # away.
public func Preview(@ViewBuilder body: @escaping @MainActor () -> any View) {}
