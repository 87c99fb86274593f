/// A post that waits in a mailbox for the clients that live there.
///
/// It does not name them, unless there is only one: who is called is decided when the letter is
/// handled, among those that were registered before the post and still are.
///
/// Mailboxes move letters without counting references: a letter is one owner of its post, whatever copies of
/// it there are, until whoever has taken it out of its mailbox ends it, once.
@safe
struct Letter: Sendable {
  enum Addressee: Sendable {
    /// The clients of the list that live in this home.
    case home

    /// All clients of the list: the post's body named the home itself.
    case everyone

    /// One registration.
    case one(Registration)
  }

  unowned(unsafe) let post: any Post

  /// What is kept until the letter was handled or given up: who waits for it is resumed by its end.
  unowned(unsafe) let receipt: (AnyObject & Sendable)?

  let addressee: Addressee

  /// The registrations that it is for have smaller numbers.
  let limit: UInt64

  /// The number of the letter, running in its office.
  let number: UInt64

  /// A letter that somebody has to end.
  init(
    _ number: UInt64, _ post: any Post, to addressee: Addressee, before limit: UInt64 = .max,
    receipt: (AnyObject & Sendable)?
  ) {
    unsafe self.post = post
    unsafe self.receipt = receipt
    self.addressee = addressee
    self.limit = limit
    self.number = number
    _ = unsafe Unmanaged.passRetained(post as AnyObject)
    if let receipt { _ = unsafe Unmanaged.passRetained(receipt as AnyObject) }
  }

  /// Lets go of the post and of the receipt. Not with a lock held: these may be the last references.
  func end() {
    if let receipt = unsafe receipt {
      unsafe Unmanaged.passUnretained(receipt as AnyObject).release()
    }
    unsafe Unmanaged.passUnretained(post as AnyObject).release()
  }
}
