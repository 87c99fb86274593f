import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// Rules 11 and 16 of the contract, for loops that lead through Foundation.
@Suite struct BridgeLoopTests {
  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let source = NotificationCenter()
  let owner = kept(Owner())

  private func listen() {
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
  }

  private func relay(line: Int = #line, column: Int = #column) {
    center.relay(.power, from: source, to: .power, line: line, column: column) { notification in
      notification.level.map { Power(level: $0 + 1) }
    }
  }

  private func forward() {
    center.forward(.power, to: source, as: .power) { ["level": $0.level] }
  }

  @Test func aMessageThatComesBackAsANotificationComesBackAThousandTimes() {
    listen()
    let relaySite = CallSite(line: #line + 1, column: 1)
    relay(line: #line, column: 1)
    forward()
    func post(
      fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) -> CallSite {
      center.post(
        .power, Power(level: 1), fileID: fileID, line: line, column: column)
      return CallSite(fileID: fileID, line: line, column: column)
    }
    let postSite = post()
    // The relay's first post is not the one that recurs: it has a call site of its own.
    #expect(journal.readLevels() == Array(1...1002))
    #expect(reports.all.map(\.key) == ["Topic<Power>(\"power\")"])
    #expect(reports.all.first?.isPost == true)
    #expect(reports.all.first?.path.prefix(3) == [postSite, relaySite, relaySite])
  }

  @Test func aNotificationThatComesBackAThousandTimesIsRefused() {
    listen()
    let line = #line + 1
    center.relay(.power, from: source, to: .power) { Power(level: ($0.level ?? 0) + 1) }
    forward()
    source.postPower(1)
    #expect(journal.readLevels() == Array(2...1002))
    // The relay's own place is its call site.
    let path = reports.all.first?.path ?? []
    #expect(Set(path).count == 1)
    #expect(path.first?.line == line)
    #expect(path.first?.fileID == "MulticastFoundationTests/BridgeLoopTests.swift")
    source.postPower(5)
    #expect(journal.readLevels() == Array(6...1006))
    #expect(reports.all.count == 2)
  }

  @Test func aRelayMadeTwiceInOnePlaceIsOneCallSiteOfEachList() {
    listen()
    for _ in 0..<2 { relay() }
    source.postPower(1)
    // One after the other is no loop.
    #expect(journal.read() == "2 2")
    #expect(reports.all.isEmpty)
  }

  @Test(arguments: [true, false]) func aClientThatPostsWhatCalledItIsALoop(maps: Bool) {
    let client = center.adding(Client("", journal))
    let line = 1
    let relay =
      maps
      ? center.relayLevels(from: source, line: line)
      : center.relay(.power, from: source, to: PowerProtocol.self, line: line) {
        $0.powerChanged(1)
      }
    client.onChange = { [source] level in source.postPower(level + 1) }
    source.postPower(1)
    let expected = maps ? Array(1...1001) : Array(repeating: 1, count: 1001)
    #expect(journal.readLevels() == expected)
    #expect(reports.all.map { Set($0.path.map(\.line)) } == [[line]])
    // It could be mapped.
    #expect(relay.dropped == 0)
  }

  @Test func anotherRelayAndAnotherCenterAreNoLoop() {
    let client = center.adding(Client("a", journal))
    center.relayLevels(from: source)
    center.relayLevels(of: .otherPower, from: source)
    client.onChange = { [source] level in
      if level == 1 { source.postPower(2, as: .otherPower) }
    }
    let other = MulticastCenter(onRecursion: reports.handler)
    other.adding(Client("other", journal))
    other.relayLevels(from: source)
    source.postPower(1)
    #expect(journal.read().split(separator: " ").sorted() == ["a1", "a2", "other1"])
    #expect(reports.all.isEmpty)
  }
}
