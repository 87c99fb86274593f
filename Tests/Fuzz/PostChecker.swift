/// Judges what a program of posts has logged.
struct PostChecker {
  private typealias Place = PostProgram.Place

  /// One call, by its two places in the log.
  private struct Call {
    let message: Int
    let receiver: Int
    let version: Int
    let isAwaited: Bool
    let thread: UInt
    let begin: Int
    var end = Int.max
  }

  private struct Registration {
    var begin = Int.max
    var end = Int.max
    var removal = Int.max
    var removalReturned = Int.max
    var removalThread: UInt = 0
    var isReplaced = false
  }

  private struct Message {
    var begin = 0
    var end = Int.max
    var thread: UInt = 0

    /// Whether it was posted inside of a call, so that it had to wait for that.
    var isNested = false
  }

  private let program: PostProgram
  private let posted: [PostLog.Posted]
  private var messages: [Message]
  private var registrations: [Registration]
  private let receivers: [Receiver]
  private var calls: [Call] = []
  private var found: [String] = []

  init(_ program: PostProgram) {
    self.program = program
    let (entries, posted) = program.log.all
    self.posted = posted
    receivers = program.receivers.withLock { $0 }
    messages = Array(repeating: Message(), count: posted.count)
    registrations = Array(repeating: Registration(), count: receivers.count)
    replay(entries)
  }

  /// What was wrong.
  func faults() -> [String] {
    var checker = self
    checker.checkWhoWasCalled()
    checker.checkLatest()
    checker.checkHomes()
    checker.checkOrder()
    checker.checkRegistrationOrder()
    checker.checkReturns()
    return checker.found
  }

  private mutating func replay(_ entries: [PostLog.Entry]) {
    // The calls that are under way, by thread; those in lanes by receiver and message.
    var stacks: [UInt: [Int]] = [:]
    var lanes: [[Int]: Int] = [:]
    for (time, entry) in entries.enumerated() {
      switch entry.kind {
      case .postBegins:
        messages[entry.message].begin = time
        messages[entry.message].thread = entry.thread
        messages[entry.message].isNested = stacks[entry.thread]?.isEmpty == false
      case .postReturns: messages[entry.message].end = time
      case .callBegins:
        let call = Call(
          message: entry.message, receiver: entry.receiver, version: entry.version,
          isAwaited: entry.isAwaited, thread: entry.thread, begin: time)
        if entry.isAwaited {
          lanes[[entry.receiver, entry.message, entry.version]] = calls.count
        } else {
          if let outer = stacks[entry.thread]?.last {
            found.append("\(describe(call)) is nested in \(describe(calls[outer]))")
          }
          stacks[entry.thread, default: []].append(calls.count)
        }
        calls.append(call)
      case .callEnds:
        let call =
          entry.isAwaited
          ? lanes[[entry.receiver, entry.message, entry.version]]
          : stacks[entry.thread]?.popLast()
        if let call { calls[call].end = time }
      case .registrationBegins:
        if entry.version == 0 {
          registrations[entry.receiver].begin = time
        } else {
          registrations[entry.receiver].isReplaced = true
        }
      case .registrationEnds:
        if entry.version == 0 { registrations[entry.receiver].end = time }
      case .removalBegins:
        registrations[entry.receiver].removal = min(registrations[entry.receiver].removal, time)
      case .removalEnds where registrations[entry.receiver].removalReturned == .max:
        registrations[entry.receiver].removalReturned = time
        registrations[entry.receiver].removalThread = entry.thread
      case .removalEnds: break
      }
    }
  }

  private static func name(of place: Place) -> String {
    switch place {
    case .home(let home): "home \(home)"
    case .nowhere: "no home"
    case .lane: "a lane"
    }
  }

  private func describe(_ call: Call) -> String {
    "the call of \(describe(receiver: call.receiver)) with message \(call.message)"
  }

  private func describe(receiver: Int) -> String {
    let of = receivers[receiver]
    let place = Self.name(of: of.first)
    let replaced = registrations[receiver].isReplaced ? ", replaced" : ""
    return "receiver \(receiver) (list \(of.list), \(place)\(replaced))"
  }
}

// MARK: - Who was called

extension PostChecker {
  /// Everybody once who was there all the time, nobody who came later, and nobody after a removal.
  private mutating func checkWhoWasCalled() {
    var counts = Array(
      repeating: Array(repeating: 0, count: posted.count), count: receivers.count)
    for call in calls {
      let registration = registrations[call.receiver]
      counts[call.receiver][call.message] += 1
      if posted[call.message].list != receivers[call.receiver].list {
        found.append("\(describe(call)), which was for others")
      }
      if call.begin > registration.removalReturned, call.thread == registration.removalThread {
        found.append("\(describe(call)) comes after its removal")
      }
      if call.end == .max { found.append("\(describe(call)) has not ended") }
      if messages[call.message].end < registration.begin, !keepsLatest(call.message) {
        found.append("\(describe(call)), which was posted before it came")
      }
    }
    for (number, receiver) in receivers.enumerated() {
      let registration = registrations[number]
      // One that is replaced begins again with the last message.
      let mayRepeat = registration.isReplaced && receiver.list == PostProgram.List.latest
      for (message, post) in posted.enumerated() where post.list == receiver.list {
        let count = counts[number][message]
        if count > 1, !mayRepeat {
          found.append("\(describe(receiver: number)) had message \(message) \(count) times")
        }
        if count == 0, registration.end < messages[message].begin, registration.removal == .max {
          found.append("\(describe(receiver: number)) has missed message \(message)")
        }
      }
    }
  }

  private func keepsLatest(_ message: Int) -> Bool {
    posted[message].list == PostProgram.List.latest
  }

  /// Whether a message had been left for everybody before another one was posted.
  private func isOver(_ message: Int, before other: Int) -> Bool {
    !messages[message].isNested && messages[message].end < messages[other].begin
  }

  /// Whoever observes a topic that keeps its latest message gets that one first, and all later ones.
  private mutating func checkLatest() {
    let all = posted.indices.filter { keepsLatest($0) }
    guard !all.isEmpty else { return }
    for (number, receiver) in receivers.enumerated() where receiver.list == PostProgram.List.latest
    {
      let registration = registrations[number]
      guard registration.removal == .max else { continue }
      let heard = calls.filter { $0.receiver == number }
      let set = Set(heard.map(\.message))
      for first in set {
        if let missed = all.first(where: { !set.contains($0) && isOver(first, before: $0) }) {
          found.append("\(describe(receiver: number)) had message \(first), and never \(missed)")
        }
      }
      let early = set.filter {
        !messages[$0].isNested && messages[$0].end < registration.begin
      }
      if early.count > 1 {
        found.append("\(describe(receiver: number)) had \(early.sorted()) from before its time")
      }
      let isDue = all.contains { !messages[$0].isNested && messages[$0].end < registration.begin }
      if isDue, set.isEmpty { found.append("\(describe(receiver: number)) had no last message") }
      if let last = heard.last, let later = all.first(where: { isOver(last.message, before: $0) }) {
        found.append(
          "\(describe(receiver: number)) had message \(last.message) last, and not \(later)")
      }
    }
  }
}

// MARK: - Where and in which order

extension PostChecker {
  /// One call at a time in each home, and for each receiver whose calls are awaited.
  private mutating func checkHomes() {
    var last: [Place: Call] = [:]
    var lastInLane: [Int: Call] = [:]
    for call in calls {
      let receiver = receivers[call.receiver]
      if call.isAwaited {
        if let before = lastInLane[call.receiver], before.end > call.begin {
          found.append("\(describe(call)) begins while \(describe(before)) goes on")
        }
        lastInLane[call.receiver] = call
      } else if case .home = receiver.first, !registrations[call.receiver].isReplaced {
        if let before = last[receiver.first], before.end > call.begin {
          found.append("\(describe(call)) begins while \(describe(before)) goes on")
        }
        last[receiver.first] = call
      }
    }
  }

  /// The posts of one thread, those that follow a post that has returned, and effects after their causes.
  private mutating func checkOrder() {
    // The home of several receivers has their calls, as far as nobody moves or begins with a message that
    // others had long before. Each receiver has its own, anyway.
    var places: [Place: [Call]] = [:]
    var own: [[Int]: [Call]] = [:]
    for call in calls {
      let registration = registrations[call.receiver]
      let isUsual =
        !registration.isReplaced && registration.end < messages[call.message].begin
      if isUsual, !call.isAwaited {
        places[receivers[call.receiver].first, default: []].append(call)
      }
      // A call of the old handler may be under way while the new one is called in another home.
      own[[call.receiver, call.version], default: []].append(call)
    }
    for (place, calls) in places { checkOrder(of: calls, Self.name(of: place)) }
    for (receiver, calls) in own {
      let place = describe(receiver: receiver[0])
      checkOrder(of: calls, place)
    }
  }

  private mutating func checkOrder(of calls: [Call], _ place: String) {
    var spans: [Int: (begin: Int, end: Int)] = [:]
    for call in calls {
      let span = spans[call.message] ?? (.max, 0)
      spans[call.message] = (min(span.begin, call.begin), max(span.end, call.end))
    }
    let numbers = spans.keys.sorted { messages[$0].begin < messages[$1].begin }
    for (index, later) in numbers.enumerated() {
      guard let span = spans[later] else { continue }
      for earlier in numbers[..<index] {
        guard let before = spans[earlier], before.end > span.begin else { continue }
        if let reason = reason(for: earlier, before: later) {
          found.append("in \(place), message \(later) overtakes \(earlier): \(reason)")
          return
        }
      }
    }
  }

  /// Why a message must arrive before another one, which was posted later; nil if it need not.
  private func reason(for earlier: Int, before later: Int) -> String? {
    if messages[earlier].thread == messages[later].thread { return "one thread has posted them" }
    if isOver(earlier, before: later) { return "the other one was posted when it had returned" }
    var cause = posted[later].cause
    while let next = cause {
      if next == earlier { return "it is its effect" }
      cause = posted[next].cause
    }
    return nil
  }

  /// For each post, the order of registration, in each home and among those without one.
  private mutating func checkRegistrationOrder() {
    struct Key: Hashable {
      let place: Place
      let message: Int
    }
    var groups: [Key: [Call]] = [:]
    for call in calls where !call.isAwaited {
      let registration = registrations[call.receiver]
      guard !registration.isReplaced, registration.end < messages[call.message].begin else {
        continue
      }
      groups[Key(place: receivers[call.receiver].first, message: call.message), default: []]
        .append(call)
    }
    for calls in groups.values {
      for (one, other) in zip(calls, calls.dropFirst())
      where registrations[other.receiver].end < registrations[one.receiver].begin {
        found.append("\(describe(other)) comes after a younger one's")
      }
    }
  }

  /// What has happened when a post returns.
  private mutating func checkReturns() {
    for call in calls {
      let message = messages[call.message]
      let registration = registrations[call.receiver]
      guard !message.isNested, !registration.isReplaced, registration.end < message.begin,
        call.begin > message.end || call.end > message.end
      else { continue }
      let post = posted[call.message]
      if post.waits {
        found.append("\(describe(call)) was not waited for")
        continue
      }
      switch receivers[call.receiver].first {
      case .nowhere: found.append("\(describe(call)) comes after the post has returned")
      case .home(let home) where home == post.home:
        if case .queue(_, isSerial: false) = program.homes[home] { continue }
        found.append("\(describe(call)) comes after the post at home has returned")
      default: break
      }
    }
    guard registrations.allSatisfy({ $0.removal == .max && !$0.isReplaced }),
      let last = registrations.map(\.end).max()
    else { return }
    for (number, post) in posted.enumerated() where messages[number].begin > last {
      let expected = receivers.count { $0.list == post.list }
      if post.count != expected {
        found.append("the post of message \(number) returned \(post.count), not \(expected)")
      }
    }
  }
}
