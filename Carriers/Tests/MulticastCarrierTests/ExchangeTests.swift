import MulticastCarrierTesting
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import MulticastCarrier

/// The protocol between the processes, in a time of its own.
@Suite struct ExchangeTests {
  /// Whoever comes back a moment later than the sender still gets what has waited for long.
  @Test func keepsWhatHasWaitedAsLongAsWhatHasNot() throws {
    let sent = NIOLockedValueBox<[ByteBuffer]>([])
    var one = Exchange(
      identity: Identity(name: "one", start: 1), prefix: "test", limits: Carriage.Limits()
    ) { payload, _ in
      sent.withLockedValue { $0.append(payload) }
      return nil
    }
    one.carry("note", .init())
    var now = NIODeadline.uptimeNanoseconds(1)
    let note = Envelope(type: "note", body: ByteBuffer(string: "1"))
    #expect(one.post(note, payloadLimit: 1_000, at: now) == nil)
    now = now + .minutes(10)
    one.connect(at: now)
    for (seconds, count) in [(29, 1), (40, 0)] as [(Int64, Int)] {
      one.tick(at: now + .seconds(seconds))
      sent.withLockedValue { $0 = [] }
      let question = Packet(
        sender: Identity(name: "two", start: 2), content: .ask(type: "note", 1...1, nonce: 7))
      one.receive(question.payload(), at: now + .seconds(seconds))
      let answers = try sent.withLockedValue { $0 }.filter {
        if case .message = try Packet($0).content { true } else { false }
      }
      #expect(answers.count == count)
    }
  }
}
