import Foundation
import MulticastCarrierTesting
import Testing

/// Processes of their own, and real engines that end and come back.
@Suite(.timeLimit(.minutes(60))) struct OutageTests {
  /// A process that tells what it does.
  struct Node {
    let name: String
    let program: Program

    init(_ engine: Engine, _ name: String, _ options: String...) throws {
      self.name = name
      program = try Program(
        Program.built("Node"), ["run", "engine=\(engine.url)", "name=\(name)"] + options)
    }

    struct Line {
      let time: Int
      let words: [Substring]
    }

    var lines: [Line] {
      program.text("out").split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.first.flatMap { Int($0) }.map {
          Line(time: $0, words: Array(words.dropFirst()))
        }
      }
    }

    /// When it has heard each note of a sender, in order.
    func notes(of sender: String) -> [(number: Int, time: Int)] {
      lines.filter { $0.words.count == 3 && $0.words[0] == "note" && $0.words[1] == sender }
        .compactMap { line in Int(line.words[2]).map { ($0, line.time) } }
    }

    var reports: [String] {
      lines.filter { $0.words.first == "report" }.map { $0.words.joined(separator: " ") }
    }
  }

  private var now: Int { Int(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  /// Three processes post 200 messages a second together, while the engine is killed for ten seconds.
  @Test(arguments: Engine.Kind.allCases)
  func nothingIsLostWhenTheEngineIsKilledForTenSeconds(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let names = ["north", "east", "south"]
    let nodes = try names.map { try Node(engine, $0, "peers=2", "rate=67", "count=1340") }
    try await eventually("all post") { nodes.allSatisfy { $0.notes(of: $0.name).count > 100 } }
    try await engine.program.kill9()
    try await Task.sleep(for: .seconds(10))
    let back = now
    engine = try await Engine(kind, port: engine.port)
    try await eventually("all hear all") {
      nodes.allSatisfy { node in names.allSatisfy { node.notes(of: $0).count >= 1_340 } }
    }
    var latest = 0
    for node in nodes {
      for name in names {
        let notes = node.notes(of: name)
        // None lost, none twice, none out of order.
        #expect(notes.map(\.number) == Array(0..<1_340), "\(name) at \(node.name)")
        // What was posted before the engine's return is everywhere soon after it.
        let posted =
          nodes.first { $0.name == name }?.notes(of: name).filter { $0.time < back } ?? []
        let heard = notes.prefix(posted.count).map(\.time).max() ?? 0
        latest = max(latest, heard - back)
      }
      #expect(!node.reports.contains { $0.contains("gapPossible") || $0.contains("dropped") })
    }
    measured("\(kind): engine killed for 10 s, the same set everywhere after its return", latest)
    withExtendedLifetime(engine) {}
  }

  /// A process is killed while it posts, and started again.
  @Test(arguments: Engine.Kind.allCases)
  func aProcessThatIsKilledComesBackWithEveryLatestValue(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let one = try Node(engine, "one", "peers=1", "rate=100", "count=100000", "states=50", "posts=1")
    var two = try Node(engine, "two", "peers=1", "rate=100", "count=100000", "states=50")
    try await eventually("both hear each other") {
      one.notes(of: "two").count > 50 && two.notes(of: "one").count > 50
    }
    let said = two.notes(of: "two").count
    try await eventually("one hears all of it") { one.notes(of: "two").count >= said }
    try await two.program.kill9()
    two = try Node(engine, "two", "peers=1", "rate=100", "count=100", "states=50")
    let start = now
    try await eventually("it has every value") {
      Set(two.lines.filter { $0.words.first == "state" }.map { $0.words[1] }).count == 50
    }
    let last = two.lines.filter { $0.words.first == "state" }.map(\.time).max() ?? 0
    measured("\(kind): process restarted, every latest value after its start", last - start)

    try await eventually("the others go on") {
      Array(one.notes(of: "two").suffix(100)).map(\.number) == Array(0..<100)
    }
    let heard = one.notes(of: "two").map(\.number)
    // The notes of the first process, of which some may have died with it, and all of the second one.
    #expect(heard.suffix(100) == Array(0..<100)[...])
    let before = Array(heard.dropLast(100))
    #expect(before == before.sorted() && Set(before).count == before.count)
    try await eventually("it hears the others") { two.notes(of: "one").count > 50 }
    let numbers = two.notes(of: "one").map(\.number)
    #expect(numbers == Array(numbers[0]..<numbers[0] + numbers.count))
  }

  /// A sender is killed while another process stands still and has lost its connection.
  @Test(arguments: Engine.Kind.allCases, ["stores", "plain"])
  func anEngineThatStoresRepairsWhatADeadSenderSaid(
    _ kind: Engine.Kind, _ scheme: String
  ) async throws {
    var engine = try await Engine(storing: kind)
    let store = engine
    let go = engine.program.path("go")
    let one = try Node(engine, "one", "scheme=\(scheme)")
    let witness = try Node(engine, "witness", "scheme=\(scheme)")
    let two = try Node(
      engine, "two", "peers=2", "scheme=\(scheme)", "after=\(go)", "rate=200", "count=100000")
    for name in ["two", "witness"] {
      try await eventually("one knows \(name)") {
        one.reports.contains { $0.contains("joined(\(name)") }
      }
    }
    if scheme == "stores" {
      try await eventually("one knows its place") { one.reports.contains("report place") }
    }
    one.program.signal(SIGSTOP)
    engine = try await cut(one, from: engine, others: [witness, two])
    try Data().write(to: URL(fileURLWithPath: go))
    // What somebody else has heard, the engine has had.
    try await eventually("the witness hears two") { witness.notes(of: "two").count > 200 }
    let said = witness.notes(of: "two").count
    try await two.program.kill9()
    one.program.signal(SIGCONT)
    if scheme == "stores" {
      try await eventually("all arrives") { one.notes(of: "two").count >= said }
      let numbers = one.notes(of: "two").map(\.number)
      #expect(numbers == Array(0..<numbers.count))
      #expect(!one.reports.contains { $0.contains("gapPossible") || $0.contains("BeganAnew") })
    } else {
      // The same without a store: what was said meanwhile is gone.
      try await eventually("one is connected again") {
        one.reports.filter { $0 == "report connected" }.count >= 2
      }
      try await eventually("one misses two") { one.reports.contains { $0.contains("left(two") } }
      #expect(one.notes(of: "two").count < said)
    }
    withExtendedLifetime((engine, store)) {}
  }

  /// Ends the connections of a process that stands still. Returns the engine that runs, with what it has stored.
  private func cut(_ node: Node, from engine: Engine, others: [Node]) async throws -> Engine {
    guard engine.kind == .redis else {
      // All lose their connections.
      try await engine.program.kill9()
      let new = try await Engine(storing: .nats, port: engine.port, in: engine)
      for node in others {
        try await eventually("\(node.name) connects again") {
          node.reports.filter { $0 == "report connected" }.count >= 2
        }
      }
      return new
    }
    let end = try Program(
      "/bin/sh",
      [
        "-c",
        """
        list() { redis-cli -p \(engine.port) client list; }
        for id in $(list | grep "name=\(node.name) " | grep -o '^id=[0-9]*'); do
          redis-cli -p \(engine.port) client kill id "${id#id=}"
        done | grep 1
        """,
      ])
    #expect(try await end.status() == 0, "\(end.text("out"))")
    return engine
  }

  /// The engine loses what it has stored, with what a dead sender said. Its places are not believed afterwards.
  @Test(arguments: Engine.Kind.allCases)
  func aStoreThatBeganAnewIsToldAndNotBelieved(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(storing: kind)
    let store = engine
    let go = engine.program.path("go")
    let witness = try Node(
      engine, "witness", "peers=1", "scheme=stores", "rate=2000", "count=2000")
    let two = try Node(
      engine, "two", "peers=2", "scheme=stores", "after=\(go)", "rate=200", "count=100000")
    try await eventually("the store has much") { two.notes(of: "witness").count >= 2_000 }
    let one = try Node(engine, "one", "scheme=stores", "repair=2")
    for name in ["two", "witness"] {
      try await eventually("one knows \(name)") {
        one.reports.contains { $0.contains("joined(\(name)") }
      }
    }
    try await eventually("one knows its place") { one.reports.contains("report place") }
    one.program.signal(SIGSTOP)
    engine = try await cut(one, from: engine, others: [witness, two])
    try Data().write(to: URL(fileURLWithPath: go))
    try await eventually("the witness hears two") { witness.notes(of: "two").count > 100 }
    try await engine.program.kill9()
    engine = try await Engine(storing: kind, port: engine.port)
    // Less than there was: the place in the old store is behind all of it.
    let known = witness.notes(of: "two").count
    try await eventually("the witness hears more") { witness.notes(of: "two").count > known + 50 }
    let last = try #require(witness.notes(of: "two").last?.number)
    try await two.program.kill9()
    one.program.signal(SIGCONT)
    try await eventually("one hears what the new store has") {
      one.notes(of: "two").contains { $0.number == last }
    }
    for report in ["storeBeganAnew(type: \"note\")", "gapPossible"] {
      try await eventually("\(report) is told") { one.reports.contains { $0.contains(report) } }
    }
    let numbers = one.notes(of: "two").map(\.number)
    #expect(numbers == Set(numbers).sorted() && numbers[0] > 50)
    withExtendedLifetime((engine, store)) {}
  }

  @Test(arguments: Engine.Kind.allCases)
  func sendsWhatWaitsWhenItIsTerminated(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let one = try Node(engine, "one", "peers=1")
    let two = try Node(engine, "two", "peers=1", "rate=100000", "count=20000")
    try await eventually("some are posted") { two.notes(of: "two").count > 500 }
    two.program.signal(SIGTERM)
    #expect(try await two.program.status() == 0)
    let posted = two.notes(of: "two").map(\.number)
    try await eventually("all arrive") { one.notes(of: "two").count >= posted.count }
    #expect(one.notes(of: "two").map(\.number) == posted)
    try await eventually("its end is told") { one.reports.contains { $0.contains("left") } }
  }
}

extension Program {
  /// The path of a built program.
  static func built(_ name: String) throws -> String {
    let tests = Bundle(for: Marker.self).bundleURL
    return try #require(
      [tests, tests.deletingLastPathComponent()].map { $0.appendingPathComponent(name).path }
        .first { FileManager.default.isExecutableFile(atPath: $0) })
  }
  private final class Marker {}
}

/// Prints how long something took. A machine under load takes its time, so that no limit is tested.
func measured(_ what: String, _ milliseconds: Int) {
  print("MEASURED \(what): \(milliseconds) ms")
}
