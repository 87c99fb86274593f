import Dispatch
import Multicast
import TestSupport
import Testing

extension Topic where Message == Int {
  fileprivate static var number: Self { Topic("leak") }
}

private final class Leaking: Sendable {
  let numbers = Numbers()

  init(_ center: MulticastCenter, handlers: Int = 1, on queue: DispatchQueue? = nil) {
    for _ in 0..<handlers {
      let handler: @Sendable (Leaking, Int) -> Void = { _, number in self.numbers.add(number) }
      if let queue {
        center.observe(.number, owner: self, on: queue, handler)
      } else {
        center.observe(
          .number, owner: self, fileID: "App/Leaking.swift", line: 7, column: 12, handler)
      }
    }
  }
}

private actor LeakingActor {
  var numbers: [Int] = []

  func open(_ center: MulticastCenter) {
    center.observe(.number, owner: self) { _, number in self.numbers.append(number) }
  }
}

@MainActor private final class LeakingScreen {
  var shown: [Int] = []

  init(_ center: MulticastCenter, awaiting: Bool) {
    if awaiting {
      center.observe(.number, owner: self) { _, number in
        await Task.yield()
        self.shown.append(number)
      }
    } else {
      center.observe(.number, owner: self) { _, number in self.shown.append(number) }
    }
  }

  deinit { MainActor.assertIsolated() }
}

private final class Sound: Sendable {
  let numbers = Numbers()

  init(_ center: MulticastCenter) {
    center.observe(.number, owner: self) { me, number in me.numbers.add(number) }
    center.observe(.number, owner: self) { [weak self] _, number in self?.numbers.add(number) }
  }
}

extension MulticastCenter {
  /// Ends all handlers, each in its home. Returns a message for each owner that only its own handler kept alive.
  fileprivate func endHandlers() async -> [String] {
    var leaks: [String] = []
    for handler in handlersToEnd {
      if let leak = await handler.home.run(handler.end) { leaks.append(leak) }
    }
    return leaks
  }
}

/// Owners that are alive only because their own handlers retain them.
@Suite struct LeakTests {
  let center = MulticastCenter()

  private static var message: String {
    #if DEBUG
      let place = ", observed at App/Leaking.swift:7:12"
    #else
      let place = ""
    #endif
    return """
      Leaking was kept alive by its own handler for Topic<Int>("leak")\(place). Use the closure's parameter instead of \
      self, or observe with a method: observe(topic, owner: self, Leaking.method). If the closure captures an object that \
      owns Leaking, make that object the owner. If another thread may have released Leaking at this moment, ignore this \
      message.
      """
  }

  @Test func anOwnerThatItsHandlerRetainsIsReported() async {
    _ = Leaking(center)
    #expect(center.post(.number, 1).clients == 1)
    #expect(await center.endHandlers() == [Self.message])
    #expect(center.post(.number, 1).clients == 0)
  }

  @Test func anOwnerThatSeveralHandlersRetainIsReportedOnce() async {
    _ = Leaking(center, handlers: 3)
    #expect(await center.endHandlers() == [Self.message])
  }

  @Test func theReportForAnActorSuggestsAnIsolatedParameter() async {
    await LeakingActor().open(center)
    let leaks = await center.endHandlers()
    #expect(leaks.count == 1)
    #expect(leaks.joined().contains("isolated: { (me: isolated LeakingActor, message)"))
  }

  @Test(arguments: [false, true]) func aLeakedOwnerIsDeallocatedInItsHome(awaiting: Bool) async {
    _ = await LeakingScreen(center, awaiting: awaiting)
    #expect(await center.endHandlers().count == 1)
    _ = Leaking(center, on: DispatchQueue(label: "home"))
    let leaks = await center.endHandlers()
    // A method cannot be called on a queue.
    #expect(leaks.count == 1 && !leaks.joined().contains("observe with a method"))
  }

  @Test func ownersThatDoNotLeakAreNotReported() async {
    let sound = Sound(center)
    let held = Leaking(center)
    _ = Sound(center)
    let messages = center.messages(of: .number)
    #expect(await center.endHandlers() == [])
    extendLifetime((sound, held, messages))
  }

  #if DEBUG
    @Test func aDebugBuildReportsLeaksWhenTheCenterIsDeallocated() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        let center = MulticastCenter()
        _ = Leaking(center)
        _ = Sound(center)
      }
      #expect(text(result) == "Multicast: \(Self.message)\n")
    }
  #endif
}
