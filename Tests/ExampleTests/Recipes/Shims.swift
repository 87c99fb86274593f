import Dispatch
import Multicast

nonisolated final class WeakSynchronizedSet<Element>: Sendable {
  private let delegates = MulticastDelegate<Element>()

  func insert(_ element: Element, queue: DispatchQueue) {
    delegates.add(element, on: queue)
  }
  func removeElement(_ element: Element) {
    delegates.remove(element)
  }
  func forEach(
    file: StaticString = #fileID,
    line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Element) -> Void
  ) {
    delegates.post(
      fileID: file, line: line, column: column, body)
  }
}

nonisolated enum Broadcaster {
  private static let center = MulticastCenter.default

  static func register<T>(
    _ listener: T.Type, observer: T,
    isolation: (any Actor)? = #isolation
  ) {
    center.add(
      observer, for: listener, isolation: isolation)
  }

  /// A client of a `Sendable` protocol has no home.
  static func register<T: Sendable>(
    _ listener: T.Type, observer: T
  ) {
    center.add(observer, for: listener)
  }

  static func unregister<T>(
    _ listener: T.Type, observer: T
  ) {
    center.remove(observer, for: listener)
  }

  static func unregister<T>(_ listener: T.Type) {
    center.removeAll(for: listener)
  }

  static func notify<T>(
    _ listener: T.Type, file: StaticString = #fileID,
    line: Int = #line, column: Int = #column,
    block: (T) -> Void
  ) {
    center.notify(
      listener,
      fileID: file, line: line, column: column, block)
  }
}
