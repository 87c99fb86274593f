import Dispatch
import Foundation
import Synchronization

/// What happened in a scenario.
struct Outcome {
  let text: String
  /// Higher is better. Cells of one row are compared with each other, and with nothing else.
  let score: Int

  init(_ text: String, _ score: Int) {
    self.text = text
    self.score = score
  }
}

/// A rule, as something that happens: a row of the table.
struct Scenario: Sendable {
  let name: String
  let title: String
  /// How often it is played for the table.
  var runs = 10
  /// Returns nil if the system cannot be asked for it.
  let play: @Sendable (Stage) async throws -> Outcome?
}

/// A system and its listeners, for one round.
final class Stage: Sendable {
  let system: System
  let journal = Journal()
  private let held = Mutex<[Listener]>([])

  init(_ system: System) { self.system = system }

  /// Adds listeners, and holds them.
  func listeners(_ names: String..., at place: Place = .here) async -> [Listener] {
    let listeners = names.map { Listener($0, journal) }
    held.withLock { $0 += listeners }
    for listener in listeners where !system.add(listener, place) { return [] }
    await settle()
    return listeners
  }

  /// Stops holding a listener.
  func release(_ name: String) {
    held.withLock { $0.removeAll { $0.name == name } }
  }

  /// Sends a number, and returns what was heard, once nothing more is heard.
  func send(_ number: Int) async -> String {
    system.send(number)
    await settle()
    return journal.text
  }

  func settle() async {
    if !system.isSynchronous { await settleElsewhere() }
  }

  func settleElsewhere() async {
    // Quiet for three looks, since a loaded machine pauses, too.
    var (last, quiet) = (journal.count, 0)
    while quiet < 3 {
      try? await Task.sleep(for: .milliseconds(40))
      quiet = journal.count == last ? quiet + 1 : 0
      last = journal.count
    }
  }

  /// Sends 1 to 100 to a listener in the main actor.
  func sendOneToHundred(
    _ kind: (_ number: Int) -> Kind, onNumber action: @escaping Listener.Action = { _ in }
  ) async -> Outcome? {
    guard let listener = await listeners("", at: .mainActor).first else { return nil }
    listener.onNumber(action)
    await settleElsewhere()
    for number in 1...100 { system.send(number, kind(number)) }
    await settleElsewhere()
    let heard = journal.text.split(separator: " ").compactMap { Int($0) }
    if heard == Array(1...100) { return Outcome("in order", 1) }
    return Outcome(heard.count == 100 ? "out of order" : "\(heard.count) of 100 arrive", 0)
  }

  /// Has what was heard judged: a text and a score, by what was heard.
  func judge(_ heard: String, _ cases: [String: Outcome], else score: Int = 0) -> Outcome {
    cases[heard] ?? Outcome("heard \(heard.isEmpty ? "nothing" : heard)", score)
  }
}

extension Scenario {
  static let all: [Scenario] = [
    order, twice, forgotten, removesItself, removesALaterOne, removesAll, addsOne, releasesOne,
    otherThread, nested, loop, correction, cause, mainActor, twoKinds, error, latest, memory, value,
  ]

  static let order = Scenario(name: "order", title: "Five listeners are told once") { stage in
    let listeners = await stage.listeners("a", "b", "c", "d", "e")
    let heard = await stage.send(1)
    if heard == "a1 b1 c1 d1 e1" { return Outcome("in the order of registration", 1) }
    return stage.judge(sorted(heard), ["a1 b1 c1 d1 e1": Outcome("in another order", 0)])
  }

  static let twice = Scenario(name: "twice", title: "One is added twice") { stage in
    let listeners = await stage.listeners("a")
    _ = stage.system.add(listeners[0], .here)
    await stage.settle()
    return stage.judge(
      await stage.send(1),
      ["a1": Outcome("called once", 1), "a1 a1": Outcome("called twice", 0)])
  }

  static let forgotten = Scenario(name: "forgotten", title: "One ends, its removal is forgotten") {
    stage in
    _ = await stage.listeners("a")
    stage.release("a")
    for number in 1...3 { _ = await stage.send(number) }
    if stage.journal.count > 0 { return Outcome("kept alive and called", 0) }
    let calls = stage.journal.calls.load(ordering: .relaxed)
    return calls == 0
      ? Outcome("gone", 1) : Outcome("gone, but its closure runs at each of 3 events", 0)
  }

  static let removesItself = Scenario(name: "removes-itself", title: "One removes itself in a call")
  {
    stage in
    let listeners = await stage.listeners("a", "b", "c")
    listeners[1].onNumber { _ in stage.system.remove(listeners[1]) }
    _ = await stage.send(1)
    return stage.judge(
      sorted(await stage.send(2)), ["a1 a2 b1 c1 c2": Outcome("not called again", 1)])
  }

  static let removesALaterOne = Scenario(
    name: "removes-later", title: "One removes a later one in a call: that one is …"
  ) { stage in
    let listeners = await stage.listeners("a", "b", "c")
    listeners[0].onNumber { _ in stage.system.remove(listeners[1]) }
    return calledAfterTheFirst(await stage.send(1), "b")
  }

  static let removesAll = Scenario(
    name: "removes-all", title: "The first removes all in its call: the others are …"
  ) {
    stage in
    let listeners = await stage.listeners("a", "b", "c")
    listeners[0].onNumber { _ in
      for listener in listeners { stage.system.remove(listener) }
    }
    return calledAfterTheFirst(await stage.send(1), "b", "c")
  }

  static let addsOne = Scenario(name: "adds-one", title: "One adds another in a call") { stage in
    let listeners = await stage.listeners("a", "b")
    let late = Listener("c", stage.journal)
    listeners[0].onNumber { number in if number == 1 { _ = stage.system.add(late, .here) } }
    _ = await stage.send(1)
    return stage.judge(
      sorted(await stage.send(2)),
      [
        "a1 a2 b1 b2 c2": Outcome("called from the next event on", 1),
        "a1 a2 b1 b2 c1 c2": Outcome("called for this event, too", 1),
      ])
  }

  static let releasesOne = Scenario(
    name: "releases-one", title: "One releases a later one in a call: that one is …"
  ) {
    stage in
    await stage.listeners("a", "b", "c")[0].onNumber { _ in stage.release("b") }
    return calledAfterTheFirst(await stage.send(1), "b")
  }

  static let otherThread = Scenario(
    name: "other-thread", title: "Listeners come and go on one thread, another one sends"
  ) { stage in
    let isDone = Done()
    let thread = Thread {
      let end = ContinuousClock.now + .milliseconds(300)
      while ContinuousClock.now < end {
        let listener = Listener("a", stage.journal)
        _ = stage.system.add(listener, .here)
        stage.system.remove(listener)
      }
      isDone.set()
    }
    thread.start()
    var number = 0
    while !isDone.isSet {
      stage.system.send(number)
      number += 1
    }
    return Outcome("no crash", 1)
  }

  static let nested = Scenario(name: "nested", title: "The first sends 2 while it hears 1") {
    stage in
    let listeners = await stage.listeners("a", "b")
    listeners[0].onNumber { number in if number == 1 { stage.system.send(2) } }
    let heard = await stage.send(1).split(separator: " ").filter { $0.hasPrefix("b") }
    return stage.judge(
      heard.joined(separator: " "),
      [
        "b1 b2": Outcome("the other hears 1, 2", 1),
        "b2 b1": Outcome("nested: the other hears 2, 1", 0),
      ])
  }

  static let loop = Scenario(
    name: "loop", title: "A listener sends again each time it is told", runs: 1
  ) { stage in
    let listeners = await stage.listeners("a")
    listeners[0].onNumber { number in
      if number % 10_000 == 0 { Progress.report("after \(number) calls") }
      stage.system.send(number + 1)
    }
    _ = await stage.send(1)
    return Outcome("ends after \(stage.journal.count) calls", 1)
  }

  static let correction = Scenario(
    name: "correction", title: "The second corrects 150 to 100; what do all end with?"
  ) { stage in
    let listeners = await stage.listeners("a", "b", "c")
    listeners[1].onNumber { number in if number > 100 { stage.system.send(100) } }
    let heard = await stage.send(150).split(separator: " ")
    let last = ["a", "b", "c"].map { name in
      String(heard.last { $0.hasPrefix(name) }?.dropFirst() ?? "nothing")
    }
    return last == ["100", "100", "100"]
      ? Outcome("100", 1) : Outcome(last.joined(separator: ", "), 0)
  }

  static let cause = Scenario(
    name: "cause", title: "A queue answers an event; does another queue hear the event first?"
  ) { stage in
    let fast = await stage.listeners("fast", at: .queue(DispatchQueue(label: "fast"))).first
    let here = await stage.listeners("here").first
    let slow = await stage.listeners("slow", at: .queue(DispatchQueue(label: "slow"))).first
    guard let fast, let here, slow != nil else { return nil }
    here.onNumber { number in if number == 1 { usleep(2000) } }
    fast.onNumber { number in if number == 1 { stage.system.send(2) } }
    stage.system.send(1)
    await stage.settleElsewhere()
    let heard = stage.journal.text.split(separator: " ").filter { $0.hasPrefix("slow") }
    return stage.judge(
      heard.joined(separator: " "),
      ["slow1 slow2": Outcome("yes", 1), "slow2 slow1": Outcome("no, the answer first", 0)])
  }

  static let mainActor = Scenario(
    name: "main-actor", title: "Another thread tells the main actor 1 to 100"
  ) { stage in
    let wasElsewhere = Done()
    let outcome = await stage.sendOneToHundred({ _ in .first }) { _ in
      if !MainQueue.isCurrent { wasElsewhere.set() }
    }
    return wasElsewhere.isSet ? Outcome("called on another thread", 0) : outcome
  }

  static let twoKinds = Scenario(
    name: "two-kinds", title: "The same with two kinds of event by turns"
  ) { await $0.sendOneToHundred { $0 % 2 == 0 ? .second : .first } }

  static let error = Scenario(name: "error", title: "The second of three throws") { stage in
    let listeners = await stage.listeners("a", "b", "c")
    do {
      guard let sendThrowing = stage.system.sendThrowing else { return nil }
      try sendThrowing(1)
      return Outcome("the error is lost", 0)
    } catch is Listener.Failure {
      return Outcome("the sender gets the error, \(stage.journal.count) were called", 1)
    }
  }

  static let latest = Scenario(name: "latest", title: "One comes after the last event, 7") {
    stage in
    _ = await stage.send(7)
    let listeners = await stage.listeners("a")
    return stage.judge(
      stage.journal.text, ["a7": Outcome("begins with it", 1), "": Outcome("hears nothing", 0)])
  }

  static let memory = Scenario(
    name: "memory", title: "Memory after 100,000 came and ended, none removed", runs: 1
  ) { stage in
    let before = residentBytes()
    for _ in 0..<100_000 {
      _ = stage.system.add(Listener("a", stage.journal), .here)
    }
    await stage.settle()
    let grown = max(0, residentBytes() - before) / 1_000_000
    return Outcome("\(grown) MB", -grown)
  }

  static let value = Scenario(name: "value", title: "A struct is added", runs: 1) { stage in
    stage.system.addValue(ValueListener(journal: stage.journal))
    await stage.settle()
    return stage.judge(
      await stage.send(1), ["value1": Outcome("called", 1), "": Outcome("never called", -1)])
  }

  /// Whether those that are not to be called any more were called after the first, or had been before.
  private static func calledAfterTheFirst(_ heard: String, _ names: String...) -> Outcome {
    let heard = heard.split(separator: " ").map { $0.prefix(1) }
    let parts = heard.split(separator: "a", omittingEmptySubsequences: false)
    func calls(_ part: Int) -> Bool {
      part < parts.count && names.contains { parts[part].contains($0[...]) }
    }
    if calls(1) { return Outcome("called all the same", 0) }
    return calls(0) ? Outcome("called before, in no order", 0) : Outcome("not called", 1)
  }

  /// What was heard, whatever the order of those who heard it.
  private static func sorted(_ heard: String) -> String {
    heard.split(separator: " ").sorted().joined(separator: " ")
  }
}

private final class Done: Sendable {
  private let value = Atomic<Bool>(false)
  func set() { value.store(true, ordering: .releasing) }
  var isSet: Bool { value.load(ordering: .acquiring) }
}

/// The memory that this process has resident, in bytes. On systems without that file, 0.
private func residentBytes() -> Int {
  let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
    .split(separator: " ").dropFirst().first
  return (pages.flatMap { Int($0) } ?? 0) * 4096
}
