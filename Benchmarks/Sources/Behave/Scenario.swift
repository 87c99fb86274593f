import Dispatch
import Foundation
import Synchronization
import Systems

/// What happened in a scenario.
struct Outcome {
  let text: String
  /// Higher is better. Cells of one row are compared with each other, and with nothing else.
  let score: Int

  init(_ text: String, _ score: Int) { (self.text, self.score) = (text, score) }

  /// What was heard, in words: what is good, and what is not.
  init(_ heard: [String], good: [String: String], bad: [String: String] = [:]) {
    let heard = heard.joined(separator: " ")
    self.init(good[heard] ?? bad[heard] ?? "heard \(heard)", good[heard] == nil ? 0 : 1)
  }
}

/// A rule, as something that happens: a row of the table.
struct Scenario: Sendable {
  /// Returns nil if the system cannot be asked for it.
  typealias Play = @Sendable (Stage) async throws -> Outcome?

  let name: String
  let title: String
  /// How often it is played for the table.
  let runs: Int
  let play: Play

  init(_ name: String, _ title: String, runs: Int = 10, play: @escaping Play) {
    (self.name, self.title, self.runs, self.play) = (name, title, runs, play)
  }
}

extension Scenario {
  static let all = [
    Scenario("order", "Five listeners are told once") { stage in
      await stage.add("a", "b", "c", "d", "e")
      let heard = await stage.send(1)
      let isInOrder = heard == ["a1", "b1", "c1", "d1", "e1"]
      return Outcome(
        heard.sorted(),
        good: isInOrder ? ["a1 b1 c1 d1 e1": "in the order of registration"] : [:],
        bad: ["a1 b1 c1 d1 e1": "in another order"])
    },
    Scenario("twice", "One is added twice") { stage in
      let listener = Listener("a", stage.journal)
      defer { extendLifetime(listener) }
      for _ in 1...2 { _ = stage.system.add(listener, .here) }
      await stage.settle()
      return Outcome(
        await stage.send(1), good: ["a1": "called once"], bad: ["a1 a1": "called twice"])
    },
    Scenario("forgotten", "One ends, its removal is forgotten") { stage in
      await stage.add("a")
      stage.release("a")
      for number in 1...3 { await stage.send(number) }
      if !stage.journal.heard.isEmpty { return Outcome("kept alive and called", 0) }
      return stage.journal.closureCalls.load(ordering: .relaxed) == 0
        ? Outcome("gone", 1) : Outcome("gone, but its closure runs at each of 3 events", 0)
    },
    Scenario("removes-itself", "One removes itself in a call") { stage in
      await stage.add("a", "b", "c")
      stage.when("b") { _ in stage.remove("b") }
      await stage.send(1)
      return Outcome(await stage.send(2).sorted(), good: ["a1 a2 b1 c1 c2": "not called again"])
    },
    ending("removes-later", "One removes a later one in a call: that one is …", ["b"]) {
      $0.remove("b")
    },
    ending("removes-all", "The first removes all in its call: the others are …", ["b", "c"]) {
      $0.remove("a", "b", "c")
    },
    Scenario("adds-one", "One adds another in a call") { stage in
      await stage.add("a", "b")
      let late = Listener("c", stage.journal)
      stage.when("a") { number in if number == 1 { _ = stage.system.add(late, .here) } }
      await stage.send(1)
      return Outcome(
        await stage.send(2).sorted(),
        good: [
          "a1 a2 b1 b2 c2": "called from the next event on",
          "a1 a2 b1 b2 c1 c2": "called for this event, too",
        ])
    },
    ending("releases-one", "One releases a later one in a call: that one is …", ["b"]) {
      $0.release("b")
    },
    Scenario("other-thread", "Listeners come and go on one thread, another one sends") { stage in
      let isDone = Atomic<Bool>(false)
      Thread.detachNewThread {
        let end = ContinuousClock.now + .milliseconds(300)
        while ContinuousClock.now < end {
          let listener = Listener("a", stage.journal)
          _ = stage.system.add(listener, .here)
          stage.system.remove(listener)
        }
        isDone.store(true, ordering: .releasing)
      }
      var number = 0
      while !isDone.load(ordering: .acquiring) {
        stage.system.send(number)
        number += 1
      }
      return Outcome("no crash", 1)
    },
    Scenario("nested", "The first sends 2 while it hears 1") { stage in
      await stage.add("a", "b")
      stage.when("a") { number in if number == 1 { stage.system.send(2) } }
      return Outcome(
        await stage.send(1).filter { $0.hasPrefix("b") },
        good: ["b1 b2": "the other hears 1, 2"], bad: ["b2 b1": "nested: the other hears 2, 1"])
    },
    Scenario("loop", "A listener sends again each time it is told", runs: 1) { stage in
      await stage.add("a")
      stage.when("a") { number in
        // How far it has come, if it does not end by itself.
        if number % 10_000 == 0 {
          FileHandle.standardOutput.write(Data("> after \(number) calls\n".utf8))
        }
        stage.system.send(number + 1)
      }
      return Outcome("ends after \(await stage.send(1).count) calls", 1)
    },
    Scenario("correction", "The second corrects 150 to 100; what do all end with?") { stage in
      await stage.add("a", "b", "c")
      stage.when("b") { number in if number > 100 { stage.system.send(100) } }
      let heard = await stage.send(150)
      let last = ["a", "b", "c"].map { name in
        heard.last { $0.hasPrefix(name) }?.dropFirst() ?? "nothing"
      }
      return last == ["100", "100", "100"]
        ? Outcome("100", 1) : Outcome(last.joined(separator: ", "), 0)
    },
    Scenario("cause", "A queue answers an event; does another queue hear the event first?") {
      stage in
      guard await stage.add("fast", at: .queue(DispatchQueue(label: "fast"))),
        await stage.add("here"),
        await stage.add("slow", at: .queue(DispatchQueue(label: "slow")))
      else { return nil }
      stage.when("here") { number in if number == 1 { usleep(2000) } }
      stage.when("fast") { number in if number == 1 { stage.system.send(2) } }
      stage.system.send(1)
      await stage.settle()
      return Outcome(
        stage.journal.heard.filter { $0.hasPrefix("slow") },
        good: ["slow1 slow2": "yes"], bad: ["slow2 slow1": "no, the answer first"])
    },
    telling("main-actor", "Another thread tells the main actor 1 to 100", kinds: 1),
    telling("two-kinds", "The same with two kinds of event by turns", kinds: 2),
    Scenario("error", "The second of three throws") { stage in
      guard let visit = stage.system.visit else { return nil }
      await stage.add("a", "b", "c")
      do {
        try visit { ear in
          ear.hear(1)
          if stage.journal.heard.count == 2 { throw CancellationError() }
        }
        return Outcome("the error is lost", 0)
      } catch is CancellationError {
        let count = stage.journal.heard.count
        return Outcome("the sender gets the error, \(count) were called", 1)
      }
    },
    Scenario("latest", "One comes after the last event, 7") { stage in
      await stage.send(7)
      await stage.add("a")
      return Outcome(
        stage.journal.heard, good: ["a7": "begins with it"], bad: ["": "hears nothing"])
    },
    Scenario("memory", "Memory after 100,000 came and ended, none removed", runs: 1) { stage in
      // To wait takes memory, too, the first time.
      await stage.settle()
      let before = residentBytes()
      for _ in 0..<100_000 { _ = stage.system.add(Listener("a", stage.journal), .here) }
      await stage.settle()
      let grown = max(0, residentBytes() - before) / 1_000_000
      return Outcome("\(grown) MB", -grown)
    },
    Scenario("value", "A struct is added", runs: 1) { stage in
      _ = stage.system.add(ValueListener(journal: stage.journal), .here)
      await stage.settle()
      return Outcome(
        await stage.send(1), good: ["value1": "called"], bad: ["": "never called"])
    },
  ]

  /// The first has listeners end in its call: whether they were called after that, or had been before.
  private static func ending(
    _ name: String, _ title: String, _ ended: [String],
    _ end: @escaping @Sendable (Stage) -> Void
  ) -> Scenario {
    Scenario(name, title) { stage in
      await stage.add("a", "b", "c")
      stage.when("a") { _ in end(stage) }
      let parts = await stage.send(1).split(separator: "a1", omittingEmptySubsequences: false)
      let isCalled = parts.map { part in ended.contains { part.contains("\($0)1") } }
      if isCalled.dropFirst().contains(true) { return Outcome("called all the same", 0) }
      return isCalled[0] ? Outcome("called before, in no order", 0) : Outcome("not called", 1)
    }
  }

  /// A listener in the main actor is sent 1 to 100.
  private static func telling(_ name: String, _ title: String, kinds: Int) -> Scenario {
    Scenario(name, title) { stage in
      guard await stage.add("", at: .mainActor) else { return nil }
      let wasElsewhere = Atomic<Bool>(false)
      stage.when("") { _ in
        if !MainQueue.isCurrent { wasElsewhere.store(true, ordering: .relaxed) }
      }
      for number in 1...100 { stage.system.send(number, kind: number % kinds) }
      await stage.settle()
      if wasElsewhere.load(ordering: .relaxed) { return Outcome("called on another thread", 0) }
      let heard = stage.journal.heard
      if heard == (1...100).map(String.init) { return Outcome("in order", 1) }
      return Outcome(heard.count == 100 ? "out of order" : "\(heard.count) of 100 arrive", 0)
    }
  }
}

/// The memory that this process has resident, in bytes. On systems without that file, 0.
private func residentBytes() -> Int {
  let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
    .split(separator: " ").dropFirst().first
  return (pages.flatMap { Int($0) } ?? 0) * 4096
}
