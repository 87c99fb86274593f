import Multicast
import TestSupport
import Testing

struct DeliveryLogTests {
  private let lines = Collected<String>()

  /// Notifies one client, which notifies again in vain.
  private func deliver(_ log: @escaping @Sendable (DeliveryEvent) -> Void) {
    let center = MulticastCenter(
      reentrancy: .refuseNesting, onRecursion: { _ in }, onDelivery: log)
    center.adding(
      Listener { [weak center] _ in
        center?.notify(PingProtocol.self, fileID: "App/Inner.swift", line: 2, column: 3) {
          $0.ping(0)
        }
      })
    center.notify(PingProtocol.self, fileID: "App/Outer.swift", line: 1, column: 2) { $0.ping(0) }
  }

  @Test func everyEventIsALine() throws {
    deliver(DeliveryLog.events(to: lines.add))
    let duration = #/[0-9.]+ (ns|µs|ms|s)/#
    #expect(
      lines.all.map { $0.replacing(duration, with: "<time>") } == [
        "notify PingProtocol #1 began, at App/Outer.swift:1:2",
        "notify PingProtocol #2 refused, at App/Inner.swift:2:3",
        "notify PingProtocol #1 called Listener, <time>",
        "notify PingProtocol #1 ended, clients: 1, <time>",
      ])
  }

  @Test(arguments: [0, 1 << 60] as [UInt64])
  func onlyWhatIsSlowIsALine(_ limit: UInt64) {
    deliver(DeliveryLog.calls(slowerThan: limit, to: lines.add))
    #expect(
      lines.all.count { $0.contains("called Listener") } == (limit == 0 ? 1 : 0))
    #expect(lines.all.count { $0.contains("refused") } == 1)
    #expect(!lines.all.contains { $0.contains("began") || $0.contains("ended") })
  }

  @Test func withoutAClosureLinesGoToStandardError() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      let center = MulticastCenter(onDelivery: DeliveryLog.events())
      let owner = Owner()
      // The topic's name stays in its line.
      let topic = Topic<Login>("two\nlines")
      center.observe(topic, owner: owner) { _, _ in }
      center.post(topic, Login(id: 1))
      extendLifetime(owner)
    }
    #expect(text(result).split(separator: "\n").count == 3)
  }
}
