/// The listener protocol of most rows: any type may conform, so its existential has the general
/// layout, five words with room for a value.
public protocol OpaqueListener: Sendable {
  func event(_ number: Int)
}

/// The same for classes only: its existential is two words.
public protocol BoundListener: AnyObject, Sendable {
  func event(_ number: Int)
}

/// A second protocol, for what happens when two are notified at the same time.
public protocol OtherListener: AnyObject, Sendable {
  func otherEvent(_ number: Int)
}
