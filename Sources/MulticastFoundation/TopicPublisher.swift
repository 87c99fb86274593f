// Combine exists on Apple's systems only, so only a gate on macOS compiles and tests this file.

#if canImport(Combine)
  import Combine
  import Foundation
  import Multicast

  extension MulticastCenter {
    /// Returns the messages of a topic as a Combine publisher, for code that moves from subjects step by
    /// step.
    ///
    /// ```text
    /// center.publisher(for: .userLogin)
    ///   .map(\.id)
    ///   .sink { id in print(id) }
    ///   .store(in: &cancellables)
    /// ```
    ///
    /// A subscriber receives messages on the thread that posts, one at a time, from its first demand on. If the
    /// topic keeps its latest message, the subscriber begins with that, and another thread may pass it a
    /// message, perhaps after `post` has returned. A message that arrives without demand is dropped, as by a
    /// `PassthroughSubject`: add `buffer(size:prefetch:whenFull:)` to keep it. The publisher never completes.
    /// While a subscriber is called, other threads that post to the topic wait for it, so it must not wait for them.
    ///
    /// - Parameters:
    ///   - topic: The topic. It does not have to have handlers.
    ///   - fileID: The file of the call site, for the center's wiring. In a wrapper, pass your caller's.
    ///   - line: The line of the call site.
    ///   - column: The column of the call site.
    /// - Returns: A publisher, which keeps the center alive. Each of its subscribers observes the topic until
    ///   it cancels.
    /// - Complexity: O(1).
    public func publisher<Message>(
      for topic: Topic<Message>,
      fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) -> TopicPublisher<Message> {
      TopicPublisher(center: self, topic: topic, fileID: fileID, line: line, column: column)
    }
  }

  /// Publishes the messages of a topic: see ``Multicast/MulticastCenter/publisher(for:fileID:line:column:)``.
  public struct TopicPublisher<Message: Sendable>: Publisher, Sendable {
    /// The message of the topic.
    public typealias Output = Message

    /// A topic does not fail.
    public typealias Failure = Never

    fileprivate let center: MulticastCenter
    fileprivate let topic: Topic<Message>
    fileprivate let fileID: StaticString
    fileprivate let line: Int
    fileprivate let column: Int

    /// Gives a subscriber its own subscription.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Message, Downstream.Failure == Never {
      subscriber.receive(
        subscription: TopicDemand(self) { message in subscriber.receive(message) })
    }
  }

  /// One subscription. It begins to observe the topic when the subscriber asks for the first messages.
  ///
  /// `@unchecked`, because `lock` protects the variables. The subscriber is called with `turn` held, so that it receives one message
  /// at a time. That lock is recursive, because the subscriber may post while it receives. Neither `request` nor `cancel` takes it,
  /// because the subscriber may wait for a thread that calls them.
  private final class TopicDemand<Message: Sendable>: Subscription, @unchecked Sendable {
    /// Passes a message to the subscriber. Returns how many more it asks for.
    typealias Downstream = (Message) -> Subscribers.Demand

    private let lock = NSLock()
    private let turn = NSRecursiveLock()
    private let publisher: TopicPublisher<Message>

    /// The subscriber; nil once the subscription is cancelled.
    private var downstream: Downstream?

    private var demand = Subscribers.Demand.none
    private var isObserving = false
    private var observation: TopicObservation?

    init(_ publisher: TopicPublisher<Message>, _ downstream: @escaping Downstream) {
      self.publisher = publisher
      self.downstream = downstream
    }

    func request(_ more: Subscribers.Demand) {
      let begins = lock.withLock {
        demand += more
        guard downstream != nil, !isObserving, demand > .none else { return false }
        isObserving = true
        return true
      }
      guard begins else { return }
      // Observes with no lock held, because the handler may be called with the latest message before this returns.
      let observation = publisher.center.observe(
        publisher.topic, owner: self,
        fileID: publisher.fileID, line: publisher.line, column: publisher.column
      ) { me, message in me.receive(message) }
      let hasEnded = lock.withLock {
        if downstream != nil { self.observation = observation }
        return downstream == nil
      }
      if hasEnded { observation.cancel() }
    }

    private func receive(_ message: Message) {
      let downstream: Downstream? = turn.withLock {
        let downstream: Downstream? = lock.withLock {
          guard let downstream, demand > .none else { return nil }
          demand -= 1
          return downstream
        }
        if let downstream {
          let more = downstream(message)
          lock.withLock { demand += more }
        }
        return downstream
      }
      // Released with no lock held: it may be the last reference to the subscriber, if that was cancelled meanwhile.
      extendLifetime(downstream)
    }

    func cancel() {
      let (observation, downstream) = lock.withLock {
        defer { (self.observation, self.downstream) = (nil, nil) }
        return (self.observation, self.downstream)
      }
      observation?.cancel()
      // Releases the subscriber with no lock held, because that may run code of the user.
      extendLifetime(downstream)
    }
  }
#endif
