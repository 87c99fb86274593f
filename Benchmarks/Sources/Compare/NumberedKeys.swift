import Multicast
import Systems

/// A listener protocol for every type: `any NumberedListener<Number>` is another key for each
/// `Number`, so that thousands of keys need not be written down.
private protocol NumberedListener<Number>: AnyObject, Sendable {
  associatedtype Number

  func event(_ number: Int)
}

private final class NumberedClient<Number>: NumberedListener {
  private let client = makeClients(1)[0]

  func event(_ number: Int) { client.event(number) }
}

/// A key of a center, its client, and how to notify it.
struct NumberedKey {
  let client: AnyObject
  let notify: (_ event: Int) -> Void

  /// Registers a client for each of `count` keys.
  static func make(_ count: Int, in center: MulticastCenter) -> [NumberedKey] {
    var keys: [NumberedKey] = []
    append(End.self, upTo: count, to: &keys, in: center)
    return keys
  }

  // A number is a list of digits, which are types: `Digit<One, Digit<Zero, End>>`. The compiler
  // writes the function once, and the runtime makes the types on the way.
  private enum End {}
  private enum Zero {}
  private enum One {}
  private enum Digit<Value, Rest> {}

  private static func append<Number>(
    _ number: Number.Type, upTo count: Int, to keys: inout [NumberedKey],
    in center: MulticastCenter
  ) {
    guard count > 0 else { return }
    let (client, listener) = (NumberedClient<Number>(), (any NumberedListener<Number>).self)
    center.add(client, for: listener)
    keys.append(
      NumberedKey(client: client) { event in center.notify(listener) { $0.event(event) } })
    append(Digit<Zero, Number>.self, upTo: count / 2, to: &keys, in: center)
    append(Digit<One, Number>.self, upTo: count - 1 - count / 2, to: &keys, in: center)
  }
}
