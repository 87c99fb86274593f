// The messages of a debug build about deliveries. In a release build, these functions do nothing.

#if DEBUG
  extension WeakBox {
    /// Stops the program if a client is notified outside its home.
    ///
    /// The compiler cannot see this mistake, because the client was added in one isolation and is notified in another. This
    /// checks where the thread runs, and not how the caller is annotated. So a nonisolated helper that is called in the actor
    /// passes.
    @usableFromInline
    final func checkHome<Listener>(as listener: Listener.Type, from site: CallSite?) {
      guard let home, !isActor, home.presence() == .elsewhere else {
        if let site { hintAtMissingHome(as: listener, from: site) }
        return
      }
      fatalError(
        """
        Multicast: a client of type \(type), added for \(listener), has \(home) as its home and is \
        \(site.map { "notified outside it, at \($0)" } ?? "read outside it, from `clients`"). Post \
        instead: a post calls each client at home. If \(type) may be called on any thread, add it with \
        on: nil, or, in a function that adds clients of a Sendable protocol, without isolation:.
        """, file: site?.file ?? #fileID, line: site.map { UInt(clamping: $0.line) } ?? #line)
    }

    /// Whether the client is an actor. Each of its methods is either nonisolated, or stops the program itself if it is called
    /// outside the actor. The type of a distributed actor is not an `Actor`, so this recognizes one that is its own home.
    private var isActor: Bool { type is any Actor.Type || isOwnHome }

    /// Prints once that a client is called where it may not expect that: elsewhere than in the actor in which it was added
    /// without a home, or outside the actor in which it conforms.
    private func hintAtMissingHome<Listener>(as listener: Listener.Type, from site: CallSite) {
      if isActor { return }
      guard let add = addWithoutHome, !add.isHere else {
        if MainActor.presence() != .here { hintAtConformance(to: listener, from: site) }
        return
      }
      StandardError.hint(
        at: add.site,
        """
        a client of type \(type) was added for \(listener) in an actor or on the main thread, at \(add.site), without a home, \
        and is called elsewhere, from \(site). Add it where the compiler knows the actor, or with isolation: or on: a queue, \
        and post to call it there. A function that adds for its callers takes isolation: (any Actor)? = #isolation, and passes it \
        on, or requires a Sendable protocol. If the client may be called on any thread, add it with on: nil, or make \
        \(listener) Sendable.
        """)
    }

    /// Prints once for a call site that a client which conforms in one actor, as `@MainActor P`, was called outside it.
    ///
    /// The compiler allows the conformance to be used in that actor, and does not know that the client is called elsewhere.
    /// Outside the actor, a cast to the protocol fails, except on Apple's platforms before macOS 26 and the other systems of that
    /// year. A client at home in an actor is not cast, because the runtime may not recognize an actor with a custom executor. For
    /// the same reason, this is wrong about a client whose queue is the executor of the actor in which it conforms.
    private func hintAtConformance<Listener>(to listener: Listener.Type, from site: CallSite) {
      switch home?.kind {
      case nil, .queue: break
      default: return
      }
      guard let client = load(), !(client is Listener) else { return }
      StandardError.hint(
        at: site,
        """
        a client of type \(type) conforms to \(listener) in one actor only, and was called outside it, from \(site), \
        because \(home.map { "\($0) is its home" } ?? "it has no home"). Give it that actor as its home: add it there without \
        on:, or pass isolation:. Or make the class nonisolated.
        """)
    }

    /// Stops the program if a post to the main actor reaches a client with another home. Prints what `hintAtMissingHome` finds.
    @usableFromInline
    final func checkHome<Listener>(in post: Post, as listener: Listener.Type) {
      if load() == nil { return }
      guard case .mainActor = post.destination else {
        return hintAtMissingHome(as: listener, from: post.site)
      }
      guard let home else { return }
      if case .mainActor = home.kind { return }
      if isActor { return }
      fatalError(
        """
        Multicast: a post to \(listener) on the main actor, at \(post.site), reaches a client of type \(type), which \
        has \(home) as its home. Use post, which calls each client at home.
        """, file: post.site.file, line: UInt(clamping: post.site.line))
    }
  }
#endif

// MARK: - Waiting for oneself

extension Post {
  /// Prints that `delivered()` has returned without waiting.
  func hintThatDeliveredWouldWait() {
    #if DEBUG
      StandardError.hint(
        at: site,
        """
        delivered() returned immediately for the post at \(site), because the post goes to the client or handler that awaits \
        it. To wait, start a Task { } there, and await delivered() in the task.
        """)
    #endif
  }
}

extension PostOffice {
  /// Prints that `settled()`, or a function like it, has returned without waiting.
  func hintThatSettledWouldWait(_ function: String, at site: CallSite) {
    #if DEBUG
      StandardError.hint(
        at: site,
        """
        \(function), called at \(site), returned false immediately, because it was called inside a call that a post makes, \
        and would wait for that call. Call it from code that no post calls, such as a test or your shutdown code.
        """)
    #endif
  }

  /// Prints that `waitUntilSettled(within:)` has blocked a thread in a home where letters wait, if there is such a home. Call
  /// this on that thread, with no lock held.
  func hintAtLettersHere(at site: CallSite) {
    #if DEBUG
      let home = mailboxes.first { mailbox in
        // A task takes a letter before it waits for its actor.
        let waits = lockAndRead(mailbox) { mailbox.isTask ? $0.isBusy : !$0.letters.isEmpty }
        if !waits || mailbox.isTask && mailbox.actor == nil { return false }
        return mailbox.presence() == .here
      }
      guard let home else { return }
      StandardError.hint(
        at: site,
        """
        waitUntilSettled(within:), called at \(site), returned false, because letters wait in \(home), where it was called: \
        a thread that waits may keep them from being handled. Call it on a thread that no home needs, or await settled(within:).
        """)
    #endif
  }
}

// MARK: - Homes that handle nothing

extension PostOffice.State {
  /// Lets a debug build print, after unlocking, that many letters wait in a mailbox, once.
  @inline(__always)
  mutating func hintAtCrowd(in mailbox: Mailbox) {
    #if DEBUG
      if unsafe mailbox.isCrowdNoted { return }
      if read(mailbox, { $0.letters.count }) < Mailbox.crowd { return }
      unsafe mailbox.isCrowdNoted = true
      makeAfterUnlock().crowded.append(mailbox)
    #endif
  }
}

extension Mailbox {
  /// The number of waiting letters that is reported.
  static var crowd: Int { 10_000 }

  /// Prints that the letters are not handled. Call this with no lock held.
  func reportCrowd() {
    #if DEBUG
      StandardError.print(
        """
        Multicast: \(Self.crowd) posts wait in \(self). Perhaps its thread is blocked or too slow, its queue is suspended, or \
        no run loop runs the main actor. Print center.wiring to see what waits.
        """)
    #endif
  }
}
