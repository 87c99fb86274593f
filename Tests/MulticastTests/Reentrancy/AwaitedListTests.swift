import TestSupport
import Testing

@testable import Multicast

/// A notify looks at its task only if its own list is being delivered with `awaiting:`.
@Suite struct AwaitedListTests {
  @Test func aSuspendedNotifyIsKnownToItsListAlone() async {
    let one = MulticastDelegate<any PingProtocol>()
    let other = MulticastDelegate<any PingProtocol>()
    let client = Counter()
    one.add(client)
    other.add(client)
    await one.notify(awaiting: { _ in
      #expect(one.clientList.isAwaited)
      #expect(!other.clientList.isAwaited)
    })
    #expect(!one.clientList.isAwaited)
  }
}
