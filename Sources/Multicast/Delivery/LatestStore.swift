/// Where a topic keeps its latest message for handlers that observe later: it stores the post. Its mailbox is the home of the
/// handlers that have no other.
///
/// `@unchecked`: each method that uses a variable takes the office's `State`, which only the thread that holds the office's
/// lock has.
@usableFromInline
final class LatestStore: @unchecked Sendable {
  /// Where handlers without another home are called, one call at a time. So they, too, receive the messages in one order.
  let mailbox = Mailbox(.postingThread)

  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) private var stored: Post?

  /// For each post that was withdrawn before it was stored, by the post's address: the topic's handlers at that moment. The post
  /// is only for these handlers, and is not stored. The thread that delivers it retains it until `storePost` has removed the
  /// entry, so no other post has the address.
  @exclusivity(unchecked) private var withdrawn: [ObjectIdentifier: Roster] = [:]

  /// Whether the topic's list is no longer in use, so that no message is stored any longer.
  @exclusivity(unchecked) private var hasEnded = false

  /// The number of the newest stored post; 1 if there was none. Stored posts are numbered from 2 on. It is never 0, because a
  /// withdrawn post gets this number, and 0 marks a post that is not stored yet.
  ///
  /// Relaxed. The number is set with the office's lock held. A thread that reads it has taken the lock to get its letter. If it
  /// reads an older number, the newer post was stored after that, so its letter comes later.
  let newest = Atomic<UInt64>(1)

  func storedPost(_ state: inout PostOffice.State) -> Post? { unsafe stored }

  /// Numbers a post and stores it, unless it was withdrawn. Returns the handlers that it is for now.
  @inline(__always)
  func storePost(
    _ post: Post, _ delivery: inout DeliveryState, _ state: inout PostOffice.State
  ) -> Roster {
    // A handler that registers after a withdrawal begins without a message, and does not need this one.
    if let roster = takeRoster(ofWithdrawn: post, &state) { return roster }
    state.lastNumber += 1
    unsafe post.number = state.lastNumber
    newest.store(state.lastNumber, ordering: .relaxed)
    delivery.releaseLater(replace(with: post, &state))
    // The list's roster of now. A handler that has registered since the post was made has begun with an earlier message, or with
    // none, and needs a letter of this one. One that registers later begins with this message. So each handler gets it exactly
    // once. A home that was not asked whether it is here counts as elsewhere.
    return post.list.roster
  }

  /// Removes the stored post, and withdraws the posts of this thread that are still to be stored. Returns the removed post, to
  /// release without the lock.
  ///
  /// Both are one critical section, so that a handler that registers meanwhile is in the roster of the withdrawn posts, or begins
  /// without a message.
  func removeLatest(_ state: inout PostOffice.State) -> Post? {
    DeliveryChain().forEachPost { post in
      // A post with a number has left its letters. One that was withdrawn before is for the handlers of that moment.
      let key = ObjectIdentifier(post)
      guard unsafe post.store?.toOpaque() == Unmanaged.passUnretained(self).toOpaque(),
        unsafe post.number == 0, unsafe withdrawn[key] == nil
      else { return }
      unsafe withdrawn[key] = post.list.roster
    }
    return replace(with: nil, &state)
  }

  /// Returns the handlers that a withdrawn post is for; nil if this one was not withdrawn.
  ///
  /// No message is outdated by a withdrawn post. It gets the number of the newest stored post, so that it is outdated only by
  /// those that are stored later.
  @inline(__always)
  private func takeRoster(ofWithdrawn post: Post, _ state: inout PostOffice.State) -> Roster? {
    guard unsafe !withdrawn.isEmpty,
      let roster = unsafe withdrawn.removeValue(forKey: ObjectIdentifier(post))
    else { return nil }
    unsafe post.number = newest.load(ordering: .relaxed)
    return roster
  }

  /// Replaces the stored post. Returns the previous one, to release without the lock.
  func replace(with post: Post?, _ state: inout PostOffice.State) -> Post? {
    if unsafe hasEnded { return nil }
    return unsafe exchange(&stored, with: post)
  }

  /// Stores no more messages, because a stored post would keep alive the list that owns this. Returns the stored post, to
  /// release without the lock.
  func end(_ state: inout PostOffice.State) -> Post? {
    defer { unsafe hasEnded = true }
    return replace(with: nil, &state)
  }
}

// MARK: - Beginning with the latest message

extension PostOffice {
  /// Changes the registration of a handler, and lets it begin with the topic's latest message, if there is one: with the lock held,
  /// claims the handler's home, or leaves the message there; then calls the handler if the home was claimed.
  ///
  /// Registration and claim or letter are one critical section of the office's lock, and so are a post's letters and its storing.
  /// So the handler receives the latest message and then every later one. If its home is here and free, the handler is called
  /// before this returns, as part of the caller's stack, where the guard finds a loop through `observe`.
  ///
  /// The letter belongs to a copy of the stored post: no task that awaits the post waits for this handler, and an
  /// `onDelivery` callback that observes is not the cause of an event. What the handler posts is caused by the code that
  /// observes, which decides when this happens, and not by what caused the message, perhaps long ago.
  ///
  /// - Parameter change: Changes the registration, with the office's lock held. Returns what has become of it, and the stored
  ///   post if the handler begins with it.
  /// - Returns: What has become of the registration.
  func beginWithLatest<Result: Sendable>(
    _ box: WeakBox, in mailbox: Mailbox, _ change: (inout State) -> (Result, Post?)
  ) -> Result {
    var delivery = DeliveryState()
    if mailbox.callsHere(in: nil) { delivery.noteHere(mailbox) }
    let roster = Roster(allOf: [box], in: mailbox)
    let cause = Cause.current
    let (result, post) = withLock { state in
      let (result, stored) = change(&state)
      return (
        result, stored.map { state.claimOrPut(copyOf: $0, for: roster, after: cause, &delivery) }
      )
    }
    // If a letter was left, this only ends this thread's part of the copy.
    if let post { handleLatestHere(post, delivery, in: mailbox) }
    return result
  }

  /// Calls the handler with the latest message if this thread has claimed the mailbox for that. Finishes this thread's part of the
  /// post in either case.
  ///
  /// A function of its own, because the compiler copies `beginWithLatest` for each closure that it is called with.
  private func handleLatestHere(
    _ post: consuming Post, _ delivery: consuming DeliveryState, in mailbox: Mailbox
  ) {
    // So that the copy ends with its last part, as every post does, and not when this returns.
    let retained = unsafe Unmanaged.passRetained(consume post)
    unsafe withFrame { frame in
      unsafe frame.callAndFinishPart(of: retained, isFromLetter: false) { post in
        _ = handleHere(delivery) { boxes in callAtHome(boxes, with: post, in: mailbox) }
      }
    }
  }
}

extension PostOffice.State {
  /// Claims a handler's home for a copy of the stored post, or leaves it there. Returns the copy.
  ///
  /// A function of its own for the same reason as ``PostOffice/handleLatestHere(_:_:in:)``.
  @inline(never)
  fileprivate mutating func claimOrPut(
    copyOf stored: Post, for roster: Roster, after cause: Cause?, _ delivery: inout DeliveryState
  ) -> Post {
    let post = stored.copy(for: roster)
    if let cause {
      // Handlers that observe in turn, without an end, must not lengthen the chain: no post among them would be refused.
      post.setCause(cause.includes(post.site) ? cause : Cause(site: post.site, parent: cause))
    }
    claimOrPut(post, for: roster, &delivery)
    return post
  }
}
