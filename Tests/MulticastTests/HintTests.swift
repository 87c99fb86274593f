import Multicast
import TestSupport
import Testing

#if DEBUG
  private protocol ScreenProtocol {}
  private protocol OtherProtocol {}
  private final class HintedScreen: ScreenProtocol {}

  extension MulticastCenter {
    fileprivate func postHinted<Message>(_ topic: Topic<Message>, _ message: Message) {
      post(topic, message, fileID: "App/Types.swift", line: 1, column: 2)
    }
  }

  /// What a debug build says of what reaches nobody.
  @Suite struct HintTests {
    @Test func whoIsAddedForAClassIsNamedWhereItsProtocolIsCalled() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let (center, screen) = (MulticastCenter(), HintedScreen())
        center.add(screen, for: HintedScreen.self)
        for _ in 0..<2 {
          center.notify(ScreenProtocol.self, fileID: "App/A.swift", line: 1, column: 2) { _ in }
          center.post(ScreenProtocol.self, fileID: "App/B.swift", line: 3, column: 4) { _ in }
          center.notify(OtherProtocol.self) { _ in }
          center.notify(HintedScreen.self) { _ in }
        }
        center.add(screen, for: ScreenProtocol.self)
        center.notify(ScreenProtocol.self) { _ in }
      }
      let messages = ["A.swift:1:2", "B.swift:3:4"].map { place in
        """
        Multicast: nobody hears ScreenProtocol, called at App/\(place), but HintedScreen was added for the class \
        HintedScreen. To be called for the protocol, it is added for that: add(client, for: ScreenProtocol.self).

        """
      }
      #expect(text(result) == messages.joined())
    }

    @Test(arguments: [false, true]) func whoseMessagesHaveAnotherTypeIsNamed(keepsLatest: Bool)
      async
    {
      let result = await #expect(processExitsWith: .success, observing: .errors) { [keepsLatest] in
        let (center, owner) = (MulticastCenter(), Owner())
        center.postHinted(Topic("speed", keepsLatest: keepsLatest), 1.5)
        center.observe(
          Topic<Int>("speed"), owner: owner, fileID: "App/A.swift", line: 3, column: 4
        ) { _, _ in }
        center.observe(Topic<Int>(), owner: owner) { _, _ in }
        for _ in 0..<2 { center.postHinted(Topic("speed", keepsLatest: keepsLatest), 1.5) }
        center.postHinted(Topic("speed"), 1)
        center.postHinted(Topic(), 1.5)
        extendLifetime(owner)
      }
      let topic = keepsLatest ? #""speed", keepsLatest: true"# : #""speed""#
      #expect(
        text(result) == """
          Multicast: nobody observes Topic<Double>(\(topic)), posted at App/Types.swift:1:2, but Topic<Int>("speed") is \
          observed, since App/A.swift:3:4. If they are the same topic, declare it once.

          """)
    }
  }
#endif
