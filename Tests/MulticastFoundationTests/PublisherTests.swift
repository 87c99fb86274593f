#if canImport(Combine)
  import Combine
  import Multicast
  import MulticastFoundation
  import Testing

  /// A topic's publisher heeds demand and cancellation.
  @Suite struct PublisherTests {
    private final class Sink: Subscriber {
      var received: [Int] = []
      var subscription: (any Subscription)?
      private let first: Subscribers.Demand
      private let onMessage: (Sink, Int) -> Subscribers.Demand

      init(_ first: Subscribers.Demand, _ onMessage: @escaping (Sink, Int) -> Subscribers.Demand) {
        self.first = first
        self.onMessage = onMessage
      }

      func receive(subscription: any Subscription) {
        self.subscription = subscription
        subscription.request(first)
      }

      func receive(_ message: Int) -> Subscribers.Demand {
        received.append(message)
        return onMessage(self, message)
      }

      func receive(completion: Subscribers.Completion<Never>) {}
    }

    let center = MulticastCenter()
    let topic = Topic<Int>("number")

    private func subscribe(
      _ first: Subscribers.Demand,
      _ onMessage: @escaping (Sink, Int) -> Subscribers.Demand = { _, _ in .none }
    ) -> Sink {
      let sink = Sink(first, onMessage)
      center.publisher(for: topic).receive(subscriber: sink)
      return sink
    }

    @Test func whatComesWithoutDemandIsDropped() {
      let (all, two, late) = (subscribe(.unlimited), subscribe(.max(2)), subscribe(.none))
      let growing = subscribe(.max(1)) { _, number in number < 3 ? .max(1) : .none }
      for number in 1...5 { center.post(topic, number) }
      late.subscription?.request(.max(1))
      center.post(topic, 6)
      #expect(all.received == [1, 2, 3, 4, 5, 6])
      #expect(two.received == [1, 2])
      #expect(late.received == [6])
      #expect(growing.received == [1, 2, 3])
    }

    @Test func cancellationEndsTheObservation() {
      let sink = subscribe(.unlimited) { sink, number in
        if number == 2 { sink.subscription?.cancel() }
        return .none
      }
      for number in 1...3 { center.post(topic, number) }
      #expect(sink.received == [1, 2])
      #expect(center.post(topic, 4).clients == 0)
    }

    @Test func theLatestMessageIsTheFirst() {
      let topic = Topic<Int>("level", keepsLatest: true)
      center.post(topic, 1)
      let sink = Sink(.unlimited) { _, _ in .none }
      center.publisher(for: topic).receive(subscriber: sink)
      center.post(topic, 2)
      #expect(sink.received == [1, 2])
      extendLifetime(sink)
    }
  }
#endif
