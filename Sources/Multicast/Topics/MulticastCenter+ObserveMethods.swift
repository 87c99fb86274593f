extension MulticastCenter {
  /// Observes a topic with a method of its owner, called in the actor of the class.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self, Screen.show)
  /// ```
  ///
  /// A method that you name with its class captures nothing, so it cannot keep its owner alive. The
  /// registration ends with the owner, which is held weakly.
  ///
  /// A method of a class on the main actor, or on another global actor, runs in that actor. Any other method
  /// runs on the posting thread. Because of an error in Swift 6.3, a method of a global actor that is not `public`
  /// compiles only in debug builds; a release build says "function has wrong linkage". Six kinds of handlers must
  /// be closures:
  ///
  /// - in an actor, `{ (me: isolated Store, login) in me.add(login) }`;
  /// - with `on: queue`, `{ me, login in me.show(login) }`;
  /// - one that awaits, `{ me, login in await me.load(login) }`;
  /// - one of a `Topic<Void>`, `{ me, _ in me.logout() }`;
  /// - one whose method returns a value, `{ me, login in _ = me.show(login) }`, or throws, because a closure catches the error;
  /// - one of a global actor that is not `public`, `{ me, login in me.show(login) }`.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for
  /// the topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// In language mode 5 with complete concurrency checking, the compiler assumes that a method may capture
  /// something, and warns, unless the upcoming feature `InferSendableFromCaptures` is enabled.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object whose method is called, and with which the registration ends.
  ///   - id: A name of the handler, so that a later call can replace it.
  ///   - once: Whether the registration ends with the first message.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one. It has no
  ///     effect if the topic does not keep its latest message.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - method: A method that receives each message, named with its class.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @_disfavoredOverload @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ method: @escaping @Sendable (Owner) -> @isolated(any) (Message) -> Void
  ) -> TopicObservation {
    // Disfavored, so that language mode 5 takes the next method.
    let call = Handler.erasingTypes(of: IsolatedMethod(method).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(
      topic, owner, id, once: once, newestOnly: newestOnly, at: site, call,
      in: method(owner).isolation)
  }

  /// Observes a topic with a method of its owner, in language mode 5.
  ///
  /// Language mode 5 does not know that a method is `Sendable`, and takes this overload. It does the same as the one for
  /// language mode 6, with one difference: if you call it on the main actor, a method without a declared actor runs there,
  /// because the compiler does not pass an inferred isolation, such as the default isolation `MainActor`, to this overload. It
  /// does not accept a closure that captures a value that is not `Sendable` and that the caller can still use.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object whose method is called, and with which the registration ends.
  ///   - id: A name of the handler, so that a later call can replace it.
  ///   - once: Whether the registration ends with the first message.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one. It has no
  ///     effect if the topic does not keep its latest message.
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - method: A method that receives each message, named with its class.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @available(swift, obsoleted: 6) @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ method: sending @escaping (Owner) -> @isolated(any) (Message) -> Void
  ) -> TopicObservation {
    let call = Handler.erasingTypes(of: IsolatedMethod(method).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    let context = isolation === MainActor.shared ? isolation : nil
    return observe(
      topic, owner, id, once: once, newestOnly: newestOnly, at: site, call,
      in: method(owner).isolation ?? context)
  }
}
