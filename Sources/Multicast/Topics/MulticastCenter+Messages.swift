extension MulticastCenter {
  /// The messages of a topic, from now on.
  ///
  /// May be called from any thread. The loop may run in any isolation.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - buffering: How messages are kept that a loop has not come to yet.
  /// - Returns: A sequence whose loops end when their task is cancelled.
  public func messages<Message>(
    of topic: Topic<Message>, buffering: MessageBuffering = .unbounded
  ) -> TopicMessages<Message> {
    // The center is held weakly: a loop that waits does not keep it alive.
    let subscribe: @Sendable () -> TopicSubscription<Message> = { [weak self] in
      let subscription = TopicSubscription<Message>(buffering)
      let end = subscription.end
      let observation = self?.observe(topic, owner: subscription) { subscription, message in
        subscription.receive(message)
        extendLifetime(end)
      }
      if let observation { subscription.end(observation) }
      return subscription
    }
    return TopicMessages(subscribe)
  }
}
