import Dispatch
import Multicast
import MulticastTesting
import TestSupport
import Testing

/// A program that relies on an order that the contract does not promise, and the same program without the mistake.
struct Mistake: Sendable, CustomStringConvertible {
  let name: String

  /// Runs the program. Throws if its outcome is wrong.
  let run: @Sendable (MulticastCenter, _ isFixed: Bool) async throws -> Void

  var description: String { name }

  init(
    _ name: String, _ run: @escaping @Sendable (MulticastCenter, Bool) async throws -> Void
  ) {
    self.name = name
    self.run = run
  }
}

/// The wrong outcome of a program.
struct WrongOutcome: Error, CustomStringConvertible {
  let description: String

  static func check(_ isRight: Bool, _ outcome: Any) throws {
    if !isRight { throw WrongOutcome(description: "a wrong outcome: \(outcome)") }
  }
}

/// A variable that the objects of a program share.
final class Shared<Value: Sendable>: Sendable {
  private let storage: Locked<Value>

  init(_ value: Value) { storage = Locked(value) }

  var value: Value {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }

  func change(_ body: @Sendable (inout Value) -> Void) { storage.withLock { body(&$0) } }
}

extension Mistake {
  static let all: [Mistake] = [
    Mistake("a view reads a value that another home has not stored yet") { center, isFixed in
      let (added, stored) = (Topic<Int>("added"), Topic<Int>("stored"))
      let (items, missing) = (Shared<Set<Int>>([]), Shared(0))
      let household = Household(center)
      await household.observe(added, in: .queue) { id in
        items.change { $0.insert(id) }
        center.post(stored, id)
      }
      await household.observe(isFixed ? stored : added, in: .mainActor) { id in
        if !items.value.contains(id) { missing.value += 1 }
      }
      center.post(added, 1)
      await household.settle()
      try WrongOutcome.check(missing.value == 0, missing.value)
    },

    Mistake("a view that opens late misses the latest value") { center, isFixed in
      let opened = Topic<Int>("opened")
      let status = Topic<String>("status", keepsLatest: isFixed)
      let shown = Collected<String>()
      let (household, view) = (Household(center), Resident())
      await household.observe(opened, in: .mainActor) { _ in
        center.observe(status, owner: view, on: .main) { _, status in shown.add(status) }
      }
      center.post(opened, 1)
      center.post(status, "ready")
      await household.settle()
      try WrongOutcome.check(shown.all == ["ready"], shown.all)
    },

    Mistake("a meter that is not removed counts after it is closed") { center, isFixed in
      let (tick, close) = (Topic<Int>("tick"), Topic<Int>("close"))
      let (late, isClosed) = (Shared(0), Shared(false))
      let (queue, meter) = (DispatchQueue(label: "meter"), Resident())
      let observation = center.observe(tick, owner: meter, on: queue) { _, _ in
        if isClosed.value { late.value += 1 }
      }
      center.observe(close, owner: meter, on: isFixed ? queue : .main) { _, _ in
        isClosed.value = true
        if isFixed { observation.cancel() }
      }
      center.post(tick, 1)
      center.post(close, 1)
      center.post(tick, 2)
      await center.settled()
      extendLifetime(meter)
      try WrongOutcome.check(late.value == 0, late.value)
    },

    Mistake("two handlers correct each other forever") { center, isFixed in
      let level = Topic<Int>("level")
      let household = Household(center)
      await household.observe(level, in: .queue) { value in
        if value < 20, !isFixed { center.post(level, 20) }
      }
      await household.observe(level, in: .mainActor) { value in
        if value > 10 { center.post(level, 10) }
      }
      center.post(level, 15)
      await household.settle()
    },

    Mistake("two homes read a balance, and write it a step later") { center, isFixed in
      let (deposit, write) = (Topic<Int>("deposit"), Topic<Int>("write"))
      let balance = Shared(0)
      let household = Household(center)
      for kind in [HomeKind.queue, .actor] {
        await household.observe(deposit, in: kind) { amount in
          center.post(write, isFixed ? amount : balance.value + amount)
        }
      }
      await household.observe(write, in: .mainActor) { value in
        balance.change { $0 = isFixed ? $0 + value : value }
      }
      center.post(deposit, 10)
      await household.settle()
      try WrongOutcome.check(balance.value == 20, balance.value)
    },

    Mistake("a page is drawn from a cache that has not been cleared yet") { center, isFixed in
      let (changed, cleared) = (Topic<Int>("changed"), Topic<Int>("cleared"))
      let (cache, drawn) = (Shared<Int?>(1), Shared(0))
      let household = Household(center)
      await household.observe(changed, in: .actor) { version in
        cache.value = nil
        center.post(cleared, version)
      }
      await household.observe(isFixed ? cleared : changed, in: .task) { version in
        drawn.value = cache.value ?? version
      }
      center.post(changed, 2)
      await household.settle()
      try WrongOutcome.check(drawn.value == 2, drawn.value)
    },

    Mistake("two homes both find that they are the first") { center, isFixed in
      let (offer, claim) = (Topic<Int>("offer"), Topic<String>("claim"))
      let (winner, wins) = (Shared<String?>(nil), Shared(0))
      let household = Household(center)
      for kind in [HomeKind.queue, .actor] {
        await household.observe(offer, in: kind) { _ in
          if winner.value == nil { center.post(claim, kind.name) }
        }
      }
      await household.observe(claim, in: .mainActor) { name in
        if isFixed, winner.value != nil { return }
        winner.value = name
        wins.value += 1
      }
      center.post(offer, 1)
      await household.settle()
      try WrongOutcome.check(wins.value == 1, wins.value)
    },

    Mistake("a setting changes before its reader handles the post") { center, isFixed in
      let render = Topic<Int>("render")
      let (size, rendered) = (Shared(1), Numbers())
      let household = Household(center)
      await household.observe(render, in: .queue) { rendered.add(isFixed ? $0 : size.value) }
      for number in 1...2 {
        size.value = number
        center.post(render, number)
      }
      await household.settle()
      try WrongOutcome.check(rendered.all == [1, 2], rendered.all)
    },

    Mistake("a handler marks a message before another handler has read it") { center, isFixed in
      let mail = Topic<Shared<Bool>>("mail")
      let shown = Shared(0)
      let household = Household(center)
      await household.observe(mail, in: .queue) { isRead in if !isFixed { isRead.value = true } }
      await household.observe(mail, in: .mainActor) { if !$0.value { shown.value += 1 } }
      center.post(mail, Shared(false))
      await household.settle()
      try WrongOutcome.check(shown.value == 1, shown.value)
    },

    Mistake("beginnings are counted in one home, and ends in another") { center, isFixed in
      let (begin, end) = (Topic<Int>("begin"), Topic<Int>("end"))
      let (active, least) = (Shared(0), Shared(0))
      let (queue, counter) = (DispatchQueue(label: "counter"), Resident())
      center.observe(begin, owner: counter, on: queue) { _, _ in active.change { $0 += 1 } }
      center.observe(end, owner: counter, on: isFixed ? queue : .main) { _, _ in
        active.change { $0 -= 1 }
        least.value = min(least.value, active.value)
      }
      center.post(begin, 1)
      center.post(end, 1)
      await center.settled()
      extendLifetime(counter)
      try WrongOutcome.check(least.value == 0, least.value)
    },

    Mistake("a receipt is expected after the first step of two") { center, isFixed in
      let (order, receipt) = (Topic<Int>("order"), Topic<Int>("receipt"))
      let receipts = Numbers()
      let household = Household(center)
      await household.observe(order, in: .queue) { center.post(receipt, $0) }
      await household.observe(receipt, in: .actor) { receipts.add($0) }
      await center.post(order, 1).delivered()
      if isFixed { await center.settled() }
      let found = receipts.all
      await household.settle()
      try WrongOutcome.check(found == [1], found)
    },

    Mistake("two tasks check whether a session is open, and both open one") { center, isFixed in
      let open = Topic<Int>("open")
      let (isOpen, opened) = (Shared(false), Shared(0))
      let household = Household(center)
      await household.observe(open, in: .queue) { _ in
        if isFixed, isOpen.value { return }
        isOpen.value = true
        opened.value += 1
      }
      @Sendable func start() async { if !isOpen.value { center.post(open, 1) } }
      async let one: Void = start()
      async let other: Void = start()
      _ = await (one, other)
      await household.settle()
      try WrongOutcome.check(opened.value == 1, opened.value)
    },

    Mistake("the first answer is taken for the answer to the first question") { center, isFixed in
      let answer = Topic<Int>("answer")
      let answers = Shared<[Int: Int]>([:])
      let household = Household(center)
      for (number, kind) in [HomeKind.queue, .actor].enumerated() {
        await household.observe(Topic<Int>("question\(number)"), in: kind) {
          center.post(answer, $0)
        }
      }
      await household.observe(answer, in: .mainActor) { number in
        answers.change { $0[isFixed ? number : $0.count] = number }
      }
      for number in 0..<2 { center.post(Topic<Int>("question\(number)"), number) }
      await household.settle()
      try WrongOutcome.check(answers.value == [0: 0, 1: 1], answers.value)
    },

    Mistake("two homes write one undo history") { center, isFixed in
      let (typed, formatted) = (Topic<Int>("typed"), Topic<Int>("formatted"))
      let (steps, editor) = (Journal(), Resident())
      let queue = DispatchQueue(label: "editor")
      center.observe(typed, owner: editor, on: queue) { _, _ in steps.write("typed") }
      center.observe(formatted, owner: editor, on: isFixed ? queue : .main) { _, _ in
        steps.write("formatted")
      }
      center.post(typed, 1)
      center.post(formatted, 1)
      await center.settled()
      extendLifetime(editor)
      try WrongOutcome.check(steps.all == ["typed", "formatted"], steps.all)
    },

    Mistake("a job is cancelled in another home than it begins in") { center, isFixed in
      let (start, cancel) = (Topic<Int>("start"), Topic<Int>("cancel"))
      let (running, worker) = (Shared<Set<Int>>([]), Resident())
      let queue = DispatchQueue(label: "worker")
      center.observe(start, owner: worker, on: queue) { _, job in
        running.change { $0.insert(job) }
      }
      center.observe(cancel, owner: worker, on: isFixed ? queue : .main) { _, job in
        running.change { $0.remove(job) }
      }
      center.post(start, 1)
      center.post(cancel, 1)
      await center.settled()
      extendLifetime(worker)
      try WrongOutcome.check(running.value.isEmpty, running.value)
    },

    Mistake("the end of an older save clears the mark of a newer change") { center, isFixed in
      let (edit, save, saved) = (Topic<Int>("edit"), Topic<Int>("save"), Topic<Int>("saved"))
      let (text, disk, isDirty) = (Shared(0), Shared(0), Shared(false))
      let household = Household(center)
      await household.observe(edit, in: .mainActor) { value in
        text.value = value
        isDirty.value = true
        center.post(save, 0)
      }
      await household.observe(save, in: .queue) { _ in
        if isDirty.value { center.post(saved, text.value) }
      }
      await household.observe(saved, in: .actor) { value in
        disk.value = value
        if !isFixed || value == text.value { isDirty.value = false }
      }
      for value in 1...2 { center.post(edit, value) }
      await household.settle()
      try WrongOutcome.check(disk.value == 2, disk.value)
    },

    Mistake("a handler changes its home, and loses the letters of the old one") { center, isFixed in
      let message = Topic<Int>("message")
      let (heard, owner) = (Numbers(), Resident())
      let queues = [DispatchQueue(label: "old"), DispatchQueue(label: "new")]
      for number in 1...2 {
        center.observe(message, owner: owner, id: "it", on: queues[isFixed ? 0 : number - 1]) {
          _, message in heard.add(message)
        }
        center.post(message, number)
      }
      await center.settled()
      extendLifetime(owner)
      try WrongOutcome.check(heard.all == [1, 2], heard.all)
    },
  ]
}

/// An exploration finds mistakes that a single run hides, and finds nothing in the fixed programs.
@Suite struct MistakeTests {
  private static let limit = 200

  @Test(arguments: Mistake.all)
  func anExplorationFindsTheMistake(_ mistake: Mistake) async throws {
    let failure = try await #require(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(runs: Self.limit) { try await mistake.run($0, false) }
    }
    // The seed repeats the order, so it finds the mistake again.
    let again = try await #require(throws: Interleavings.Failure.self) {
      try await Interleavings.replay(seed: failure.seed) { try await mistake.run($0, false) }
    }
    #expect(again.seed == failure.seed)
    #expect(again.letters == failure.letters)
  }

  @Test(arguments: Mistake.all)
  func anExplorationFindsNothingInTheFixedProgram(_ mistake: Mistake) async throws {
    try await Interleavings.explore(runs: Self.limit) { try await mistake.run($0, true) }
  }
}
