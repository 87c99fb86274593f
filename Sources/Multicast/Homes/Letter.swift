/// A post in a mailbox.
///
/// A letter names a client only if it is for a single one. Otherwise the recipients are the clients that were
/// registered before the post and are still registered when the letter is handled.
///
/// Mailboxes copy letters without reference counting. All copies of a letter together own one reference to
/// its post, until ``end()`` is called once.
@safe
struct Letter: Sendable {
  enum Addressee: Sendable {
    /// The clients of the list that live in this home.
    case home

    /// All clients of the list. The post's body names the home.
    case everyone

    case one(Registration)
  }

  private let post: Unmanaged<Post>

  /// Kept until the letter ends. Its release resumes the poster that waits.
  unowned(unsafe) let receipt: (AnyObject & Sendable)?

  let addressee: Addressee

  /// The letter is for registrations with smaller numbers.
  let limit: UInt64

  let number: UInt64

  /// Makes a letter. The caller must see that ``end()`` is called.
  init(
    _ number: UInt64, _ post: Post, to addressee: Addressee, before limit: UInt64 = .max,
    receipt: (AnyObject & Sendable)?
  ) {
    unsafe self.post = .passRetained(post)
    unsafe self.receipt = receipt
    self.addressee = addressee
    self.limit = limit
    self.number = number
    if let receipt { _ = unsafe Unmanaged.passRetained(receipt as AnyObject) }
  }

  /// Calls `body` with the post, without retaining it. The letter must not end before `body` returns.
  func withPost<Result>(_ body: (Post) -> Result) -> Result {
    unsafe post._withUnsafeGuaranteedRef(body)
  }

  func isOf(_ list: ClientList) -> Bool { withPost { $0.list === list } }

  /// Releases the post and the receipt. Called with no lock held, because these may be the last references.
  func end() {
    if let receipt = unsafe receipt {
      unsafe Unmanaged.passUnretained(receipt as AnyObject).release()
    }
    unsafe post.release()
  }
}
