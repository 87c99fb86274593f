// A post is delivered in three steps.
//
// Call: clients without a home, and clients whose homes are here, in the order of registration. The homes are
// claimed before, and the letters that wait there are handled. Leave: one letter for each other home, all under
// the office's lock. Follow: the posts made in these calls take the same steps, one after the other.
//
// Letters need one lock, and come after the calls. Otherwise a fast home could answer before a slow home, or
// a client without a home, has received the question.
//
// A post that is kept is letters only. In one critical section it becomes the latest and a letter in every
// home, so every client hears it as the first or after the previous one.

extension PostOffice {
  /// Calls and leaves one post, and reports it. Returns the number of clients that were called or will be; nil if
  /// the list is closed.
  ///
  /// - Parameter limit: The post is for registrations with smaller numbers. Nil if it is made now.
  @inline(__always)
  func deliver(
    _ posting: borrowing Posting, _ trace: PostTrace?, before limit: UInt64?,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox, ClientList) -> CallOutcome,
    make: (UInt64) -> Post
  ) -> Int? {
    // A walk does not keep its list.
    defer { extendLifetime(posting.list) }
    guard let trace else {
      return unsafe deliver(
        posting, tellingTo: nil, before: limit, active: active, call: call, make: make)
    }
    return trace.deliver(follows: limit != nil) { pass in
      unsafe deliver(
        posting, tellingTo: pass, before: limit, active: active,
        call: { box, list in pass.call(box) { box in call(box, list) } }, make: make)
    }
  }

  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, before limit: UInt64?,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox, ClientList) -> CallOutcome,
    make: (UInt64) -> Post
  ) -> Int? {
    if posting.keeper != nil {
      return keep(posting, tellingTo: pass, make: make)
    }
    if posting.list.isEmpty { return 0 }
    if posting.isAwaited {
      return leaveInTasks(posting, tellingTo: pass, before: limit, make: make)
    }
    if let named = posting.named {
      return deliver(
        posting, tellingTo: pass, in: named, before: limit, call: call, make: make)
    }
    if !posting.list.hasMailboxes {
      var walk = posting.list.beginWalk()
      // Asked again, because a client in this walk may have a home, or begin with a post that was kept meanwhile.
      if !posting.list.hasMailboxes {
        let limit = limit ?? walk.limit
        return walk.forEach { box in
          box.number < limit ? call(box, posting.list) : .skipped
        }
      }
    }
    return deliverAtHome(posting, tellingTo: pass, before: limit, call: call, make: make)
  }

  /// Calls the clients whose homes are here and those without homes, and leaves letters for the others.
  private func deliverAtHome(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, before limit: UInt64?,
    call: (WeakBox, ClientList) -> CallOutcome, make: (UInt64) -> Post
  ) -> Int {
    guard let audience = posting.list.audience else { return 0 }
    let limit = limit ?? audience.limit
    let homeless =
      audience.hasHomeless && audience.keepsPosts ? posting.list.mailboxOfHomeless : nil
    var isElsewhere = false
    let claimed = claimHomes(
      of: audience, homeless, isolation: posting.isolation, isElsewhere: &isElsewhere)
    var called = 0
    // Those of a list that keeps posts are called by one thread at a time.
    let callsHomeless =
      audience.hasHomeless && (!audience.keepsPosts || claimed.homeless != nil)
    if callsHomeless || !claimed.isEmpty {
      var walk = posting.list.beginWalk()
      called = walk.forEach { box in
        box.number < limit && (box.hasHome ? claimed.contain(box) : callsHomeless)
          ? call(box, posting.list) : .skipped
      }
    }
    if claimed.isEmpty, !isElsewhere { return called }
    let post = isElsewhere ? make(limit) : nil
    // Usually every drain is scheduled already, and nothing is allocated.
    let (left, drains) = withLock { state in
      var (left, drains): (Int, [Mailbox]) = (0, [])
      if let post {
        // By index, because a loop over the elements would retain each.
        for index in audience.residents.indices {
          let residents = audience.residents[index]
          let count = residents.count
          if count == 0 || claimed.contains(residents) { continue }
          left += count
          put(
            post, in: residents.home, for: .home(before: limit), receipt: posting.receipt, &state)
          if residents.home.schedule(&state) { drains.append(residents.home) }
        }
        if let homeless, claimed.homeless == nil {
          left += audience.homelessCount
          put(post, in: homeless, for: .homeless(before: limit), receipt: posting.receipt, &state)
          if homeless.schedule(&state) { drains.append(homeless) }
        }
      }
      claimed.forEach { mailbox in if mailbox.release(&state) { drains.append(mailbox) } }
      return (left, drains)
    }
    if let pass, isElsewhere {
      for residents in audience.residents where residents.count > 0 && !claimed.contains(residents)
      {
        pass.left(for: reported(residents.home), clients: residents.count)
      }
      if let homeless, claimed.homeless == nil {
        pass.left(for: reported(homeless), clients: audience.homelessCount)
      }
    }
    for mailbox in drains { mailbox.startDrain(of: self) }
    return called + left
  }

  /// Claims the homes that are here, and handles the letters that wait there. `isElsewhere` becomes true if there
  /// are clients in other homes.
  private func claimHomes(
    of audience: ClientList.Audience, _ homeless: Mailbox?, isolation: ObjectIdentifier?,
    isElsewhere: inout Bool
  ) -> ClaimedHomes {
    var claimed = ClaimedHomes()
    var isWaiting = false
    for index in audience.residents.indices {
      let residents = audience.residents[index]
      if residents.count == 0 { continue }
      let mailbox = residents.home
      guard mailbox.place.isCurrent(from: isolation),
        let waiting = withLock({ state in mailbox.claim(&state) })
      else {
        isElsewhere = true
        continue
      }
      claimed.append(residents)
      if waiting > 0 { isWaiting = true }
    }
    if let homeless {
      if let waiting = withLock({ state in homeless.claim(&state) }) {
        claimed.homeless = homeless
        if waiting > 0 { isWaiting = true }
      } else {
        isElsewhere = true
      }
    }
    if isWaiting { claimed.forEach { mailbox in handleWaiting(in: mailbox) } }
    return claimed
  }

  /// Handles the letters that wait in a claimed home now. Later ones wait, or this might never end.
  func handleWaiting(in mailbox: Mailbox) {
    var batch = LetterQueue()
    withLock { state in mailbox.take(.max, into: &batch, &state) }
    mailbox.handle(&batch, of: self)
  }

  func put(
    _ post: Post, in mailbox: Mailbox, for addressee: Letter.Addressee, receipt: Receipt?,
    _ state: inout State
  ) {
    let receipt = receipt.flatMap { $0.held(in: mailbox) }
    mailbox.put(Letter(post: post, receipt: receipt, addressee: addressee), &state)
  }

  /// Calls all clients in the home that the body names, or leaves a letter there.
  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, in mailbox: Mailbox,
    before limit: UInt64?, call: (WeakBox, ClientList) -> CallOutcome, make: (UInt64) -> Post
  ) -> Int {
    guard let audience = posting.list.audience else { return 0 }
    let limit = limit ?? audience.limit
    if mailbox.place.isCurrent(from: posting.isolation),
      let waiting = withLock({ state in mailbox.claim(&state) })
    {
      if waiting > 0 { handleWaiting(in: mailbox) }
      var called = 0
      do {
        var walk = posting.list.beginWalk()
        called = walk.forEach { box in box.number < limit ? call(box, posting.list) : .skipped }
      }
      release(mailbox)
      return called
    }
    let post = make(limit)
    let isToBeDrained = withLock { state in
      put(post, in: mailbox, for: .everyone(before: limit), receipt: posting.receipt, &state)
      return mailbox.schedule(&state)
    }
    pass?.left(for: reported(mailbox), clients: audience.count)
    if isToBeDrained { mailbox.startDrain(of: self) }
    return audience.count
  }

  /// A home as reports name it after a letter was left there.
  func reported(_ mailbox: Mailbox) -> DeliveryEvent.Home? {
    mailbox.place.reported(waiting: withLock { state in mailbox.waiting(&state).count })
  }

  func release(_ mailbox: Mailbox) {
    if withLock({ state in mailbox.release(&state) }) { mailbox.startDrain(of: self) }
  }

  /// Leaves a letter for each client, to be called and awaited in a task.
  private func leaveInTasks(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, before limit: UInt64?,
    make: (UInt64) -> Post
  ) -> Int {
    var clients: [Registration] = []
    let upper: UInt64
    do {
      var walk = posting.list.beginWalk()
      upper = limit ?? walk.limit
      walk.forEach { box in
        guard box.number < upper else { return .skipped }
        guard box.load() != nil else { return .dead }
        clients.append(box.registration)
        return .skipped
      }
    }
    if clients.isEmpty { return 0 }
    let post = make(upper)
    let drains = withLock { state in
      var drains: [Mailbox] = []
      for client in clients where client.identity != 0 {
        let lane = state.lane(of: client.identity)
        put(post, in: lane, for: .one(client, number: 0), receipt: posting.receipt, &state)
        if lane.schedule(&state) { drains.append(lane) }
      }
      return drains
    }
    pass?.left(for: Place.task(client: nil).reported, clients: clients.count)
    for mailbox in drains { mailbox.startDrain(of: self) }
    return clients.count
  }
}
