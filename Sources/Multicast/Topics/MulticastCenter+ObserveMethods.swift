extension MulticastCenter {
  /// Observes a topic with a method of its owner.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self, Screen.show)
  /// ```
  ///
  /// A method that is named with its class captures nothing, so it cannot keep its owner alive. The observation ends with the
  /// owner.
  ///
  /// A method of a class on the main actor, or on another global actor, runs in that actor. Any other method runs on the
  /// posting thread. Four kinds of handlers are closures instead: in an actor, `{ (me: isolated Store, login) in me.add(login) }`;
  /// with `on: queue`, `{ me, login in me.show(login) }`; one that awaits, `{ me, login in await me.load(login) }`; and one of a
  /// `Topic<Void>`, `{ me, _ in me.logout() }`.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// In language mode 5 with complete concurrency checking, the compiler takes a method for something that may capture, and
  /// warns, unless the upcoming feature `InferSendableFromCaptures` is enabled.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object whose method is called, and with which the observation ends.
  ///   - id: Names the handler, so that a later call can replace it.
  ///   - once: Whether the observation ends with its first message.
  ///   - newestOnly: Whether messages of a topic that keeps its latest are skipped while newer ones wait.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - method: A method that receives each message, named with its class.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1).
  @_disfavoredOverload @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ method: @escaping @Sendable (Owner) -> @isolated(any) (Message) -> Void
  ) -> TopicObservation {
    // Disfavored, so that language mode 5 takes the next method.
    let call = Handler.erase(IsolatedMethod(method).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(
      topic, owner, id, once, newestOnly, site, call, in: method(owner).isolation)
  }

  /// Observes a topic with a method of its owner, in language mode 5, which does not know that methods are `Sendable`.
  ///
  /// Does the same as the method for language mode 6, with one difference: a method of no actor that is observed on the main actor
  /// runs there, because the compiler forgets an actor that is not written, as with the default isolation `MainActor`. Takes no
  /// closure that captures what several threads must not use.
  @available(swift, obsoleted: 6) @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ method: sending @escaping (Owner) -> @isolated(any) (Message) -> Void
  ) -> TopicObservation {
    let call = Handler.erase(IsolatedMethod(method).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    let context = isolation === MainActor.shared ? isolation : nil
    return observe(
      topic, owner, id, once, newestOnly, site, call,
      in: method(owner).isolation ?? context)
  }
}
