// The messages of a debug build about topics. At the end, what finds owners that only their own handlers keep alive, in every
// build.

#if DEBUG
  extension TopicList {
    /// Stops the program if another topic with the same name and message type disagrees on whether it keeps its latest message.
    @usableFromInline
    func check(keepsLatest: Bool, from other: CallSite) {
      if keepsLatest == (latestStore != nil) { return }
      fatalError(
        """
        Multicast: two topics have the same name and message type: \(subject), used at \(site), \
        \(keepsLatest ? "does not keep" : "keeps") its latest message, and the one used at \(other) \
        \(keepsLatest ? "does" : "does not"). Declare the topic once, or rename one of them.
        """, file: other.file, line: UInt(clamping: other.line))
    }

    /// Prints a hint if the same call site has added a handler of the same owner before, or if a handler is registered with
    /// `newestOnly` for a topic that does not keep its latest message.
    func hintAtMistakes(
      in handler: Handler, of owner: AnyObject, hasID: Bool, at home: Home?, from site: CallSite
    ) {
      // A hint is printed once for each call site. After that, `observe` skips the search.
      if StandardError.hasHinted(at: site) { return }
      if handler.newestOnly, latestStore == nil {
        StandardError.hint(
          at: site,
          """
          newestOnly: true, passed at \(site), has no effect, because \(subject) does not keep its latest message. Make the \
          topic with keepsLatest: true, or leave newestOnly out.
          """)
      }
      // Several handlers that receive one message each are no mistake, and neither are handlers from one line in several homes.
      if hasID || handler.once { return }
      let home = home ?? latestStore?.mailbox
      let isAdded = boxes(of: owner).lazy.map(\.handlerBox).contains { box in
        box.id == nil && box.site == site && box.hasSameHome(as: home) && box.isActive()
          && box.isAlive
      }
      if !isAdded { return }
      let type: any Any.Type = type(of: owner)
      StandardError.hint(
        at: site,
        """
        \(type) observes \(subject) twice, because observe was called again at \(site) without an id. Each message now calls \
        both handlers. Observe once, as in init, or pass an id, so that the second handler replaces the first: \
        observe(topic, owner: self, id: "…").
        """)
    }

    /// Ends the handlers whose owners may be loaded on this thread, because the list is being deallocated. Prints which of them
    /// were leaks.
    func reportLeaks() {
      for box in boxes where box.mayBeLoaded {
        if let leak = box.handlerBox.endFindingLeak(in: self) {
          StandardError.print("Multicast: \(leak)")
        }
      }
    }
  }

  // MARK: - Posts that no handler receives

  extension MulticastCenter {
    /// Prints a hint if a topic without handlers is posted to, and a topic is observed for which it may be mistaken, or the
    /// handlers are in another center.
    @usableFromInline
    func hintAtUnobserved<Message>(_ topic: Topic<Message>, from site: CallSite) {
      // The search reads the names of all topics.
      if !StandardError.mayExamine(at: site) { return }
      if let other = observedTopic(insteadOf: topic) {
        StandardError.hint(
          at: site,
          """
          no handler observes \(topic), posted at \(site), but \(other.subject), first used at \(other.site), is observed. If \
          they are the same topic, declare it once.
          """)
      } else if !topic.keepsLatest {
        // The message of a topic that keeps its latest one may wait for its handlers.
        hintAtOtherCenter(insteadOf: "handler observes \(topic), posted", from: site) { other in
          other.existingList(of: topic)?.anyListener
        }
      }
    }

    /// An observed topic of the same name and another message type, or of a similar name and the same message type.
    ///
    /// Names such as `passed` and `parsed` may be two topics. So a topic with a similar name counts only as long as no message was
    /// ever posted to it: then one topic has only senders, and the other one only handlers.
    private func observedTopic<Message>(insteadOf topic: Topic<Message>) -> TopicList? {
      if topic.name.isEmpty { return nil }
      for case let topics as TopicRegistry in registries.all {
        let lists = topics.topicLists
        guard case .topic(_, _, let message)? = lists.first?.subject else { continue }
        if message != Message.self {
          if let namesake = topics.find(topic.name), !namesake.isEmpty { return namesake }
          continue
        }
        let similar = lists.first { list in
          !list.isEmpty && !list.isPosted.load(ordering: .relaxed)
            && topic.name.isMisspelling(of: list.name)
        }
        if let similar { return similar }
      }
      return nil
    }
  }

  extension String {
    /// Whether one of two names may be the other one misspelled. They differ only in upper and lower case; or they are long, and
    /// differ inside a word by one lowercase letter, or by two that are exchanged.
    ///
    /// A difference at the ends, in a digit or in a capital letter may distinguish the members of a group: `user` and `users`,
    /// `row1` and `row2`, `axisX` and `axisY`.
    func isMisspelling(of other: String) -> Bool {
      if self == other { return false }
      if lowercased() == other.lowercased() { return true }
      var (one, other) = (Array(self)[...], Array(other)[...])
      if max(one.count, other.count) < 5 { return false }
      var (before, after): (Character?, Character?)
      while let letter = one.first, letter == other.first {
        before = letter
        (one, other) = (one.dropFirst(), other.dropFirst())
      }
      while let letter = one.last, letter == other.last {
        after = letter
        (one, other) = (one.dropLast(), other.dropLast())
      }
      let isShort = max(one.count, other.count) == 1
      let isExchange = one.count == 2 && Array(one.reversed()) == Array(other)
      guard isShort || isExchange, let before, let after else { return false }
      return before.isLetter && ([after] + one + other).allSatisfy(\.isLowercase)
    }
  }
#endif

// MARK: - Streams

extension TopicSubscription {
  /// Prints once that a stream without a limit holds many messages. In a release build, this does nothing.
  @inline(__always)
  func hintAtUnread(of topic: Topic<Message>, from site: CallSite) {
    #if DEBUG
      let isCrowded =
        limit == .max
        && state.withLock { state in
          if state.unread < Mailbox.crowd || state.isReported { return false }
          state.isReported = true
          return true
        }
      if !isCrowded { return }
      StandardError.print(
        """
        Multicast: \(Mailbox.crowd) messages are unread in the stream of \(topic), made at \(site). Its loop may have ended \
        or be too slow. Release the stream to end it, or limit what it keeps: messages(of: …, buffering: .bufferingNewest(100)).
        """)
    #endif
  }
}

// MARK: - Leaks

extension HandlerBox {
  /// Ends the registration. Returns a message if the handler alone has kept its owner alive, because the owner is then
  /// deallocated in this call. Call this in the owner's home.
  func endFindingLeak(in list: TopicList) -> String? {
    let site = site
    let handler = takeHandler()
    list.endRegistration(of: self)
    // Immediately before and after the release of the handler, because another thread may release the owner at any moment. The
    // first line that uses the handler keeps it alive until there, and the second one releases it there.
    let wasAlive = isAlive
    extendLifetime(handler)
    _ = consume handler
    guard wasAlive, !isAlive, !(type is any LibraryOwner.Type) else { return nil }
    let advice =
      switch home?.kind {
      // Neither form can await, or be called on a queue.
      case .queue, .handlerTask: ""
      case _ where type is any Actor.Type:
        ", or take the owner isolated: { (me: isolated \(type), message) in … }"
      default: ", or observe with a method: observe(topic, owner: self, \(type).method)"
      }
    return """
      \(type) was kept alive by its own handler for \(list.subject)\(site.map { ", observed at \($0)" } ?? ""). Use the \
      closure's parameter instead of self\(advice). If the closure captures an object that owns \(type), make that \
      object the owner. If another thread may have released \(type) at this moment, ignore this message.
      """
  }
}

extension MulticastCenter {
  /// All handlers of topics: the home of each, and a function to call there. It ends the handler, and returns a message if the
  /// handler alone has kept its owner alive.
  package var handlersToEnd: [(home: Home, end: @Sendable () -> String?)] {
    registries.all.flatMap(\.lists).compactMap { $0 as? TopicList }.flatMap { list in
      list.boxes.filter(\.isRegistered).map { box in
        // An actor that is its own home would be retained there, and would not be deallocated. An actor may be destroyed
        // anywhere.
        let home = box.type is any Actor.Type ? nil : box.home
        return (home ?? Mailbox.anyThread, { box.handlerBox.endFindingLeak(in: list) })
      }
    }
  }
}
