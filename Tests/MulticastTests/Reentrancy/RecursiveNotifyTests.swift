import TestSupport
import Multicast
import Testing

@Suite struct RecursiveNotifyTests {
  let center = MulticastCenter()
  let report = RecursiveNotify(
    key: "UserProtocol",
    path: [
      CallSite(fileID: "App/Store.swift", line: 12, column: 32),
      CallSite(fileID: "App/Screen.swift", line: 7, column: 5),
      CallSite(fileID: "App/Store.swift", line: 12, column: 32),
    ])

  @Test func aReportNamesTheProtocolAndPrintsEachCallSiteOnALine() {
    #expect(
      report.description == """
        A recursive notification of UserProtocol was refused and called no client. The path to it:
          App/Store.swift:12:32
          App/Screen.swift:7:5
          App/Store.swift:12:32  <- refused
        To fix this, notify only if something has changed, or post instead. A wrapper must pass its caller's \
        call site on. If the recursion is meant and ends, use reentrancy: .allow(depth:).
        """)
  }

  @Test func theReportOfAPostPrintsThatItsPathIsNotACallStack() {
    let report = RecursiveNotify(
      key: "UserProtocol",
      path: (1...20).map { CallSite(fileID: "App/Store.swift", line: $0, column: 1) }, isPost: true)
    let lines = report.description.split(separator: "\n")
    #expect(
      lines.first == """
        A post to UserProtocol was refused and called no listener, because one post has set off more than 1000 \
        recurring posts. The path to it:
        """)
    #expect(lines[1] == "  App/Store.swift:1:1")
    #expect(lines[2] == "  then posted at App/Store.swift:2:1")
    #expect(lines[6] == "  ... 10 more")
    #expect(lines[11] == "  then posted at App/Store.swift:20:1  <- refused")
    #expect(
      lines.last == """
        To fix this, post only if something has changed. If the chain would end by itself, post its pieces from one loop.
        """)
  }

  @Test func reportsAreComparedByValue() {
    #expect(report == RecursiveNotify(key: report.key, path: report.path))
    #expect(report != RecursiveNotify(key: "Other", path: report.path))
    #expect(Set([report, report]).count == 1)
    #expect(throws: report) { throw report }
  }

  // Functions, because inside the macro all calls would have the call site of the macro.

  /// Two loops, each refused many times.
  static func loopALot() {
    let center = MulticastCenter()
    for _ in 0..<8 {
      center.adding(Client("a", Journal())).onPing = { _ in
        center.notify(PingProtocol.self) { $0.ping(1) }
        center.notify(PingProtocol.self) { $0.ping(2) }
      }
    }
    for _ in 0..<3 { center.notify(PingProtocol.self) { $0.ping(0) } }
  }

  /// One call site that notifies two protocols of the default center, with a loop in each.
  static func loopInTwoLists(in center: MulticastCenter = .default) {
    func notify<Listener>(_ key: Listener.Type, _ body: (Listener) -> Void) {
      center.notify(key, body)
    }
    let client = center.adding(Client("a", Journal()))
    center.add(client, for: Client.self)
    client.onPing = { number in
      if number == 1 {
        notify(PingProtocol.self) { $0.ping(1) }
      } else {
        notify(Client.self) { $0.ping(2) }
      }
    }
    notify(PingProtocol.self) { $0.ping(1) }
    notify(Client.self) { $0.ping(2) }
  }

  /// Topics that come and go, each with a recurring post. Their lists may have the same address.
  static func loopInManyTopics() {
    let center = MulticastCenter()
    let owner = kept(Owner())
    for number in 0..<20 {
      let topic = Topic<Int>("topic \(number)")
      @Sendable func post() { center.post(topic, 1) }
      center.observe(topic, owner: owner) { _, _ in post() }
      post()
      center.removeHandlers(of: topic)
    }
  }

  @Test func aCenterWithoutARecursionHandlerPrintsEachLoopOnce() async {
    func reports(_ result: ExitTest.Result?) -> [Substring] {
      text(result).split(separator: "Multicast: ")
    }
    let alot = await #expect(processExitsWith: .success, observing: .errors) { Self.loopALot() }
    #expect(reports(alot).count == 2)
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      Self.loopInTwoLists()
    }
    #expect(reports(result).count == 2)
    for (report, key) in zip(reports(result), ["PingProtocol", "Client"]) {
      #expect(report.hasPrefix("A recursive notification of \(key) was refused"))
      #expect(report.contains(".allow(depth:)"))
      // The path contains the call site and the refused call from it, and nothing between the two.
      #expect(report.split(separator: "\n").count { $0.hasPrefix("  ") } == 2)
    }
    let topics = await #expect(processExitsWith: .success, observing: .errors) {
      Self.loopInManyTopics()
    }
    #expect(reports(topics).count == 20)
  }

  @Test func aProgramWithoutAnUnhandledLoopPrintsNothing() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      // The recursion handler receives the reports.
      let reports = Reports()
      Self.loopInTwoLists(in: reports.center)
      precondition(reports.all.count == 2)
      let center = MulticastCenter()
      let client = center.adding(Client("a", Journal()))
      center.add(client, for: PingProtocol.self)
      center.notify(PingProtocol.self) { $0.ping(1) }
      center.notify(Client.self) { $0.ping(1) }
      center.remove(client)
      center.remove(client)
    }
    #expect(text(result) == "")
    #expect(result?.standardOutputContent == [])
  }
}

@Suite struct CallSiteTests {
  @Test func aCallSiteIsTheSourceLocationOfItsInitializer() {
    let site = CallSite()
    #expect(site.fileID == #fileID)
    #expect(site.line == #line - 2)
    #expect(site.description == "\(#fileID):\(site.line):\(site.column)")
  }
}
