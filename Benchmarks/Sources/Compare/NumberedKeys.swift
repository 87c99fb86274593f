import Clients
import Multicast

/// A listener protocol for every type: `any NumberedListener<Number>` is another key for each
/// `Number`, so that thousands of keys need not be written down.
protocol NumberedListener<Number>: AnyObject, Sendable {
  associatedtype Number

  func event(_ number: Int)
}

final class NumberedClient<Number>: NumberedListener {
  private let client: any Client

  init(_ client: any Client) {
    self.client = client
  }

  func event(_ number: Int) {
    client.event(number)
  }
}

/// A key of a center, its client, and how to notify it.
struct NumberedKey {
  let client: AnyObject
  let notify: (_ event: Int) -> Void
}

extension NumberedKey {
  /// Registers a client for each of `count` keys.
  static func make(_ count: Int, in center: MulticastCenter) -> [NumberedKey] {
    var keys: [NumberedKey] = []
    keys.reserveCapacity(count)
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
    // Breadth first would need a queue of types; a binary tree of the right size does as well.
    guard count > 0 else { return }
    keys.append(NumberedKey(number, in: center))
    append(Digit<Zero, Number>.self, upTo: count / 2, to: &keys, in: center)
    append(Digit<One, Number>.self, upTo: count - 1 - count / 2, to: &keys, in: center)
  }

  private init<Number>(_ number: Number.Type, in center: MulticastCenter) {
    let client = NumberedClient<Number>(Clients.make(1)[0])
    let listener = (any NumberedListener<Number>).self
    center.add(client, for: listener)
    self.client = client
    notify = { event in center.notify(listener) { $0.event(event) } }
  }
}
