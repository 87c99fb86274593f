/// A post that waits in a mailbox for the clients that live there.
///
/// It does not name them, unless there is only one: who is called is decided when the letter is
/// handled, among those that were registered before the post and still are.
struct Letter: Sendable {
  enum Addressee: Sendable {
    /// The clients of a list that live in this home.
    case group(ClientGroup)

    /// All clients of the list: the post's body named the home itself.
    case everyone

    /// One registration.
    case one(Registration)
  }

  let post: any Post
  let addressee: Addressee

  /// The numbers of the registrations that it is for.
  let range: Range<UInt64>

  /// What is kept until the letter was handled or given up: who waits for it is resumed by its end.
  let receipt: (AnyObject & Sendable)?

  /// The number of the letter, running in its office.
  var number: UInt64 = 0
}
