// The second step of a delivery: see Delivery.swift.

extension PostOffice {
  /// Stores a post if its topic keeps the latest message, and leaves letters in the homes concerned, or claims one that is here.
  @inline(never)
  func leaveLetters(
    of post: Post, _ delivery: inout DeliveryState, in isolation: ObjectIdentifier?
  ) {
    // Before the lock is taken, because client code may run: that of a custom executor, to answer, and the `deinit` of a client
    // whose last owner releases it during the search.
    switch post.destination {
    case .tasks:
      // So that `delivered()` does not wait for the letters of deallocated clients. A client is loaded only where its home allows
      // it: one without a home, in the actor of the body. The homes of these letters are tasks, which are never here.
      let isAtBody = post.isolation.map { actor in actor.presence() == .here } ?? true
      let boxes = post.roster.boxes
      post.list.removeDeallocated(in: isAtBody ? boxes : boxes.filter { box in box.home != nil })
    case .mainActor:
      delivery.setRoster(Roster(allOf: post.roster.boxes, in: mainMailbox))
      if mainMailbox.callsHere(in: isolation) { delivery.noteHere(mainMailbox) }
    case .homes:
      post.roster.forEachHome { _, mailbox in
        if mailbox.callsHere(in: isolation) { delivery.noteHere(mailbox) }
      }
    }
    // The drains that this asks for start as the office unlocks.
    withLock { state in
      if let store = unsafe post.store {
        let roster = unsafe store._withUnsafeGuaranteedRef { $0.storePost(post, &delivery, &state) }
        delivery.setRoster(roster)
      }
      if case .tasks = post.destination {
        delivery.setRoster(state.rosterOfTasks(for: post.roster))
      }
      unsafe delivery.roster(of: post)._withUnsafeGuaranteedRef { roster in
        state.claimOrPut(post, for: roster, &delivery)
      }
    }
  }
}

extension PostOffice.State {
  /// A roster in which the mailbox of a task is the home of each client.
  fileprivate mutating func rosterOfTasks(for roster: Roster) -> Roster {
    var groups: ContiguousArray<Roster.Group> = []
    for box in roster.boxes {
      let client = box.identity
      if client == 0 { continue }
      groups.append(Roster.Group(of: mailbox(ofClient: client), [box]))
    }
    return Roster(roster.boxes, withoutHome: [], groups: groups)
  }

  /// Leaves a post in each mailbox of a roster: claims the candidate, with the letters that wait there, unless it is claimed
  /// already, by another thread or further out on this stack; and puts a letter in the others.
  ///
  /// Only one home is claimed. If this thread claimed all homes that are here, no other thread could call in them while this one
  /// is calling in the first.
  @inline(__always)
  mutating func claimOrPut(_ post: Post, for roster: Roster, _ delivery: inout DeliveryState) {
    delivery.forEachOtherHere { mark($0, asAlsoHere: true) }
    defer { delivery.forEachOtherHere { mark($0, asAlsoHere: false) } }
    roster.forEachHome { group, mailbox in
      let count = group.boxes.registered
      if count == 0 { return forgetIfIdle(mailbox) }
      // Here and free: this thread calls the listeners in step 3, after what waits.
      if delivery.isCandidate(mailbox), change(mailbox, { $0.claim() }) == .claimed {
        delivery.noteClaim(for: group)
        // Only if letters wait, because `takeNextOrEndClaim` ends a claim that finds none.
        if !read(mailbox, { $0.letters.isEmpty }) {
          delivery.fillEarlier { earlier in
            change(mailbox) { $0.takeNextOrEndClaim(.max, into: &earlier) }
          }
        }
        return
      }
      // All others get a letter. In a home that is here, it needs no drain: this thread handles it or, if the home is claimed
      // already, the one that has the claim does, or starts a drain.
      let isHere = delivery.isCandidate(mailbox) || isAlsoHere(mailbox)
      change(mailbox) { $0.put(Letter(post: post, group: group), isHere: isHere) }
      delivery.noteLetter(for: count)
      if unsafe post.trace != nil {
        delivery.noteReport(
          of: mailbox, listeners: count, waiting: read(mailbox) { $0.letters.count })
      }
      hintAtCrowd(in: mailbox)
    }
    if delivery.letters > 0 { post.addParts(delivery.letters) }
  }
}
