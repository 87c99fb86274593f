import Multicast
import TestSupport
import Testing

/// `postOnMain` calls everybody on the main actor, whoever posts.
@Suite struct PostOnMainTests {
  @MainActor private protocol ScreenProtocol {
    func show(_ number: Int)
  }

  @MainActor private final class Screen: ScreenProtocol {
    var numbers: [Int] = []
    func show(_ number: Int) {
      MainActor.assertIsolated()
      numbers.append(number)
    }
  }

  let center = MulticastCenter()
  let delegates = MulticastDelegate<any PingProtocol>()

  @Test @MainActor func callsFromAnotherThreadComeLaterAndInOrder() async {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    onNewThread {
      for number in 1...100 {
        #expect(center.postOnMain(ScreenProtocol.self) { $0.show(number) }.clients == 1)
      }
    }
    #expect(screen.numbers == [])
    #expect(await center.postOnMain(ScreenProtocol.self) { $0.show(101) }.delivered() == 1)
    #expect(screen.numbers == Array(1...101))
  }

  @Test @MainActor func callsAreOverWhenItReturnsOnTheMainActor() {
    let screen = Screen()
    center.add(screen, for: ScreenProtocol.self)
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    #expect(screen.numbers == [1])
  }

  @Test func whoHasNoHomeIsCalledThereToo() async {
    delegates.adding(Listener { _ in MainActor.assertIsolated() })
    #expect(delegates.postOnMain { $0.ping(1) }.clients == 1)
    #expect(await delegates.postOnMain { $0.ping(2) }.delivered() == 1)
  }

  @Test func withoutClientsNobodyIsCalled() async {
    #expect(center.postOnMain(PingProtocol.self) { $0.ping(1) }.clients == 0)
    #expect(await center.postOnMain(PingProtocol.self) { $0.ping(1) }.delivered() == 0)
    #expect(delegates.postOnMain { $0.ping(1) }.clients == 0)
  }

  @Test @MainActor func aRecurringCallNamesTheCallersPlace() async {
    let reports = Reports()
    let center = reports.center
    let client = Client("", Journal())
    center.add(client, for: PingProtocol.self)
    let line = #line + 1
    @MainActor func post() { center.postOnMain(PingProtocol.self) { $0.ping(1) } }
    client.onPing = { _ in MainActor.assumeIsolated { post() } }
    post()
    await center.postOnMain(PingProtocol.self) { _ in }.delivered()
    #expect(reports.all.first?.path.last?.line == line)
  }
}
