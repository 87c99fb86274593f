// Letters that nobody posts: for handlers that begin with a topic's latest message, and for homes with deallocated clients.

extension PostOffice {
  /// Lets homes that are not here find the deallocated clients of a list, with a letter that calls nobody.
  func findDeadElsewhere(in list: ClientList, from site: CallSite) {
    // A scheduler has no letters but the user's.
    if scheduler != nil { return }
    let post = SearchForDead(in: list, from: site)
    var elsewhere: [(Roster.Residents, Mailbox)] = []
    post.roster.forEachHome { residents, mailbox in
      if !mailbox.mayRelease { elsewhere.append((residents, mailbox)) }
    }
    var actions = LeaveActions()
    withLock { state in
      for (residents, mailbox) in elsewhere {
        state.put(post, for: residents, in: mailbox, &actions)
      }
    }
    _ = drain(actions) { _ in 0 }
  }

  /// Changes the registration of a handler, which begins with the topic's latest post if `change` returns that.
  ///
  /// All later posts follow it, because both happen with the office's lock held. If the handler's home is here and nobody is at
  /// work there, the handler is called before this returns, as part of the caller's stack.
  func register<Result: Sendable>(
    _ box: WeakBox, in mailbox: Mailbox, _ change: (inout State) -> (Result, latest: Post?)
  ) -> Result {
    let residents = Roster.Residents(of: mailbox, [box])
    defer { extendLifetime(residents) }
    var actions = LeaveActions()
    if mailbox.isDrained(from: nil) { actions.addHere(mailbox) }
    let (result, latest) = withLock { state in
      let (result, latest) = change(&state)
      if let latest { state.put(latest, for: residents, in: mailbox, &actions) }
      return (result, latest)
    }
    guard let latest else { return result }
    unsafe withFrame { frame in
      unsafe frame.call(with: .passRetained(latest)) { latest in
        _ = drain(actions) { boxes in
          callAtHome(boxes, with: latest, in: mailbox)
          return boxes.count
        }
      }
    }
    return result
  }
}
