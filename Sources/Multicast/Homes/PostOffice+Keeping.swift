extension PostOffice {
  /// Keeps a post, and leaves it in every home at the same moment. Letters for this thread's homes are handled
  /// here. Returns the number of clients that are called or will be; nil if the list is closed.
  func keep(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, make: (UInt64) -> Post
  ) -> Int? {
    guard let keeper = posting.keeper, let audience = posting.list.audience else { return nil }
    let named = posting.named
    // Asked with no lock held. A home that comes meanwhile is not known to be here, and gets a drain.
    let here = (named.map { [$0] } ?? posting.list.homes(of: audience).map(\.mailbox)).filter {
      mailbox in
      isHere(mailbox, from: posting.isolation)
    }
    let post = make(audience.limit)
    let (list, receipt) = (posting.list, posting.receipt)
    let kept = withLock { state in
      // Asked again, because later clients begin with this post. Closing the list needs this lock.
      guard let audience = list.audience else { return nil as KeepOutcome? }
      let number = list.takeNumber()
      let dropped = keeper.replaceLatest(
        with: Keeper.Kept(post: post, number: number, mailbox: named), &state)
      let homes =
        named.map { audience.count > 0 ? [($0, audience.count)] : [] } ?? list.homes(of: audience)
      var drains: [Mailbox] = []
      for (mailbox, _) in homes {
        let addressee: Letter.Addressee =
          if named != nil {
            .everyone(before: number)
          } else if mailbox === list.mailboxOfHomeless {
            .homeless(before: number)
          } else {
            .home(before: number)
          }
        put(post, in: mailbox, for: addressee, receipt: receipt, &state)
        if !here.contains(where: { $0 === mailbox }), mailbox.schedule(&state) {
          drains.append(mailbox)
        }
      }
      return KeepOutcome(homes: homes, drains: drains, dropped: dropped)
    }
    guard let kept else { return nil }
    var count = 0
    for (mailbox, clients) in kept.homes {
      count += clients
      pass?.left(for: reported(mailbox), clients: clients)
    }
    for mailbox in here { handleLetters(in: mailbox) }
    for mailbox in kept.drains { mailbox.startDrain(of: self) }
    return count
  }

  private struct KeepOutcome: Sendable {
    let homes: [(mailbox: Mailbox, clients: Int)]
    let drains: [Mailbox]

    /// The previous post, released with the lock released.
    let dropped: Keeper.Kept?
  }

  /// Whether a home is here, other than the posting thread itself.
  private func isHere(_ mailbox: Mailbox, from isolation: ObjectIdentifier?) -> Bool {
    if case .postingThread = mailbox.place { return false }
    return mailbox.place.isCurrent(from: isolation)
  }

  /// Handles the letters of a home that is here, unless a thread has claimed it.
  private func handleLetters(in mailbox: Mailbox) {
    guard let waiting = withLock({ state in mailbox.claim(&state) }) else { return }
    if waiting > 0 { handleWaiting(in: mailbox) }
    release(mailbox)
  }

  /// Registers an observer or a client, which begins with kept posts. `place` registers it, and returns the
  /// letters for it.
  ///
  /// All later posts follow, because both happen under the office's lock.
  ///
  /// - Parameter home: A mailbox whose letters are handled before this returns, if its home is here. Those for the
  ///   posting thread always are.
  func begin<Result: Sendable>(
    in home: Mailbox? = nil,
    _ place: (inout State) -> (Result, [(mailbox: Mailbox, letter: Letter)])
  ) -> Result {
    let here = home.flatMap { home in isHere(home, from: nil) ? home : nil }
    let (result, drains) = withLock { state in
      let (result, letters) = place(&state)
      for (mailbox, letter) in letters { mailbox.put(letter, &state) }
      return (
        result,
        letters.compactMap { mailbox, _ in
          mailbox !== here && mailbox.schedule(&state) ? mailbox : nil
        }
      )
    }
    if let here { handleLetters(in: here) }
    for mailbox in drains { mailbox.startDrain(of: self) }
    return result
  }
}

extension ClientList {
  /// The mailboxes of the homes with clients, and the numbers of these.
  fileprivate func homes(of audience: Audience) -> [(mailbox: Mailbox, clients: Int)] {
    var homes: [(mailbox: Mailbox, clients: Int)] = []
    for residents in audience.residents where residents.count > 0 {
      homes.append((residents.home, residents.count))
    }
    if audience.hasHomeless, audience.keepsPosts, let homeless = mailboxOfHomeless {
      homes.append((homeless, audience.homelessCount))
    }
    return homes
  }
}
