import Dispatch
import Multicast

// The parts that depend on the runtime and on the linker, in a statically linked program, as in a
// server image.

protocol PingProtocol {
  func ping(_ number: Int)
}

/// Unchecked, because each is used only in its home, which the compiler cannot see.
final class Listener: PingProtocol, @unchecked Sendable {
  var numbers: [Int] = []
  func ping(_ number: Int) { numbers.append(number) }
}

actor PostingActor {
  let center: MulticastCenter
  let listener = Listener()

  init(_ center: MulticastCenter) { self.center = center }

  func listen() { center.add(listener, for: PingProtocol.self) }

  /// Posts here, and in a function without isolation. Returns how often the listener had been
  /// called when each post returned.
  func countCallsBeforePostReturns() -> [Int] {
    center.post(PingProtocol.self) { $0.ping(1) }
    let first = listener.numbers.count
    post(2, to: center)
    return [first, listener.numbers.count]
  }

  var numbers: [Int] { listener.numbers }
}

nonisolated func post(_ number: Int, to center: MulticastCenter) {
  center.post(PingProtocol.self) { $0.ping(number) }
}

func check(_ found: [Int], _ expected: [Int], _ rule: String) {
  if found != expected { fatalError("\(rule): \(found) instead of \(expected)") }
}

@main enum Static {
  static func main() async {
    let center = MulticastCenter()
    let actor = PostingActor(center)
    await actor.listen()
    if CommandLine.arguments.contains("--notify-outside") {
      center.notify(PingProtocol.self) { $0.ping(0) }
      return
    }
    check(await actor.countCallsBeforePostReturns(), [1, 2], "rule 15, before post returns")

    let queue = DispatchQueue(label: "home")
    let onQueue = Listener()
    center.add(onQueue, for: PingProtocol.self, on: queue)
    for number in 3...1000 { post(number, to: center) }
    // Also handles the letters that were left before it.
    await center.post(PingProtocol.self) { listener in listener.ping(1001) }.delivered()
    check(await actor.numbers, Array(1...1001), "rules 13 and 14, in an actor")
    check(queue.sync { onQueue.numbers }, Array(3...1001), "rules 13 and 14, on a queue")
    print("Static: rules 13, 14 and 15 hold")
  }
}
