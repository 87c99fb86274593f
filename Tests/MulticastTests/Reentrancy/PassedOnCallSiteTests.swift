import TestSupport
import Multicast
import Testing

/// The part of rule 11 of the contract that wrappers rely on: each way of delivering of a center, and so of its
/// delegates, counts as the call site that it is given, by its file, its line and its column.
@Suite struct PassedOnCallSiteTests {
  enum Way: CaseIterable, Sendable {
    case notify, batch, map, awaited
  }

  static let site = CallSite(fileID: "App/Store.swift", line: 12, column: 32)

  /// Sites that differ in one part only. The nested notify comes from them and is not a loop.
  static let others: [(fileID: StaticString, line: Int, column: Int)] = [
    ("App/Other.swift", 12, 32), ("App/Store.swift", 13, 32), ("App/Store.swift", 12, 33),
  ]

  let reports = Reports()

  @Test(arguments: Way.allCases)
  func aCenterCountsEveryPartOfTheSite(way: Way) async {
    let center = MulticastCenter(onRecursion: reports.handler)
    let client = center.adding(Client("a", Journal()))
    func nested(_ fileID: StaticString, _ line: Int, _ column: Int) -> Int {
      switch way {
      case .notify, .awaited:
        center.notify(PingProtocol.self, fileID: fileID, line: line, column: column) { _ in }
      case .batch:
        center[PingProtocol.self].notify(
          forEach: [1], fileID: fileID, line: line, column: column
        ) { _, _ in }
      case .map:
        center.map(PingProtocol.self, fileID: fileID, line: line, column: column) { _ in 1 }.count
      }
    }
    client.onPing = { _ in check(nested) }
    switch way {
    case .notify, .batch, .map:
      center.notify(
        PingProtocol.self, fileID: "App/Store.swift", line: 12, column: 32
      ) { $0.ping(1) }
    case .awaited:
      await center.notify(
        PingProtocol.self, fileID: "App/Store.swift", line: 12, column: 32,
        awaiting: { $0.ping(1) })
    }
    #expect(reports.all.map(\.path) == [[Self.site, Self.site]])
  }

  /// Notifies from the outer notify's own site, which is refused, and from those that are not it.
  private func check(_ nested: (StaticString, Int, Int) -> Int) {
    #expect(nested("App/Store.swift", 12, 32) == 0)
    for other in Self.others {
      #expect(nested(other.fileID, other.line, other.column) == 1, "\(other)")
    }
  }
}
