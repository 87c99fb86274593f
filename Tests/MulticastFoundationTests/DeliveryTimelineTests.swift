import Dispatch
import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// What a trace viewer reads in the file of a timeline.
struct DeliveryTimelineTests {
  /// One event of the file.
  private struct Event {
    let ph: String
    let track: Int
    let name: String
    /// Nanoseconds, because viewers compare numbers that have been rounded in the same way.
    let start: Int
    let end: Int
    let id: Int?
    let arguments: [String: Any]

    init(_ object: [String: Any]) throws {
      ph = try #require(object["ph"] as? String)
      track = try #require(object["tid"] as? Int)
      name = try #require(object["name"] as? String)
      start = Int(((object["ts"] as? Double ?? 0) * 1_000).rounded())
      end = start + Int(((object["dur"] as? Double ?? 0) * 1_000).rounded())
      id = object["id"] as? Int
      arguments = object["args"] as? [String: Any] ?? [:]
    }

    func contains(_ other: Event) -> Bool {
      track == other.track && start <= other.start && other.end <= end
    }
  }

  private let timeline = DeliveryTimeline()
  private let center: MulticastCenter
  private let queue = DispatchQueue(label: "home")

  init() { center = MulticastCenter(onDelivery: timeline.record) }

  private func events(of timeline: DeliveryTimeline) throws -> [Event] {
    let file = try JSONSerialization.jsonObject(with: timeline.json) as? [String: Any]
    return try #require(file?["traceEvents"] as? [[String: Any]]).map(Event.init)
  }

  private func slices(_ events: [Event]) -> [Event] { events.filter { $0.ph == "X" } }

  /// The name of the slice in which an arrow begins or ends, innermost.
  private func slice(of arrow: Event, in events: [Event]) -> String? {
    slices(events).filter { $0.contains(arrow) }.min { $0.end - $0.start < $1.end - $1.start }?.name
  }

  /// The arrows, as `PowerClient > post PowerProtocol`, sorted.
  private func arrows(in events: [Event]) throws -> [String] {
    try events.filter { $0.ph == "s" }.map { begin in
      let end = try #require(events.first { $0.ph == "f" && $0.id == begin.id })
      #expect(begin.start <= end.start)
      // Perfetto takes the last slice that has begun for the arrow's, even if that slice has ended. A
      // loop, because `filter` with a closure finds nothing here in a debug build of Swift 6.3.1.
      var latest: Int?
      for slice in slices(events) where slice.track == begin.track && slice.start <= begin.start {
        latest = max(latest ?? 0, slice.start)
      }
      #expect(latest == begin.start)
      return try
        "\(#require(slice(of: begin, in: events))) > \(#require(slice(of: end, in: events)))"
    }.sorted()
  }

  /// Expects that any two slices of one track are nested or follow each other.
  private func expectNesting(_ events: [Event], sourceLocation: SourceLocation = #_sourceLocation) {
    for track in Dictionary(grouping: slices(events), by: \.track).values {
      let sorted = track.sorted { ($0.start, $1.end) < ($1.start, $0.end) }
      var open: [Event] = []
      for slice in sorted {
        while let last = open.last, last.end <= slice.start { open.removeLast() }
        if let last = open.last { #expect(last.contains(slice), sourceLocation: sourceLocation) }
        open.append(slice)
      }
    }
  }

  /// The names of tracks, each with the names of its slices.
  private func tracks(in events: [Event]) -> [String: [String]] {
    let names = events.filter { $0.name == "thread_name" }.map {
      ($0.arguments["name"] as? String ?? "", $0.track)
    }
    return Dictionary(uniqueKeysWithValues: names).mapValues { track in
      slices(events).filter { $0.track == track }
        .sorted { ($0.start, $1.end) < ($1.start, $0.end) }.map(\.name)
    }
  }

  @Test func aPostAcrossThreeHomesHasATrackForEach() async throws {
    let journal = Journal()
    let (here, late) = (Client("here", journal), Counter())
    let main = await MainActor.run { kept(Counter()) }
    center.add(here, for: PowerProtocol.self, on: nil)
    center.add(late, for: PowerProtocol.self, on: queue)
    center.add(main, for: PowerProtocol.self, on: .main)
    await onNewThreadAsync { center.post(PowerProtocol.self) { $0.powerChanged(1) } }
    await center.settled()
    await ended(3)
    let events = try events(of: timeline)
    expectNesting(events)
    #expect(
      tracks(in: events) == [
        "thread": ["post PowerProtocol", "Client"], "MainActor": ["post PowerProtocol", "Counter"],
        "queue home": ["post PowerProtocol", "Counter"],
      ])
    #expect(
      try arrows(in: events)
        == Array(repeating: "post PowerProtocol > post PowerProtocol", count: 2))
    let waits = slices(events).filter { $0.arguments["waited µs"] != nil }
    #expect(waits.count == 4)
    extendLifetime((here, late))
  }

  /// Returns when `count` passes are in the timeline, because a pass ends after its post is delivered.
  private func ended(_ count: Int) async {
    while (try? slices(events(of: timeline)).count { $0.name.hasPrefix("post") } == count) == false
    {
      await Task.yield()
    }
  }

  private func onNewThreadAsync(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { done in
      DispatchQueue(label: "poster").async {
        body()
        done.resume()
      }
    }
  }

  @Test func anArrowLeadsFromACallToThePostThatFollows() async throws {
    let topic = Topic<Int>("number")
    let owner = Counter()
    await onNewThreadAsync { [center] in
      center.observe(topic, owner: owner) { [weak center] _, number in
        if number > 0 { center?.post(topic, number - 1) }
      }
      center.post(topic, 1)
    }
    let events = try events(of: timeline)
    expectNesting(events)
    let name = #"post Topic<Int>("number")"#
    #expect(tracks(in: events) == ["thread": [name, "Counter", name, "Counter"]])
    #expect(try arrows(in: events) == ["Counter > \(name)"])
    #expect(slices(events).last?.arguments["cause"] as? Int == 1)
  }

  @Test func aNotifyInACallIsNestedThereWithoutAnArrow() async throws {
    let client = Client("a", Journal())
    client.onChange = { [center] level in
      if level > 0 { center.notify(PowerProtocol.self) { $0.powerChanged(level - 1) } }
    }
    center.add(client, for: PowerProtocol.self, on: nil)
    center.notify(PowerProtocol.self) { $0.powerChanged(1) }
    client.onChange = nil
    let events = try events(of: timeline)
    expectNesting(events)
    #expect(
      slices(events).map(\.name)
        == Array(repeating: ["notify PowerProtocol", "Client"], count: 2).flatMap(\.self))
    #expect(try arrows(in: events) == [])
  }

  // swift-format-ignore: TypeNamesShouldBeCapitalized
  /// Its name begins like the text for the home of an awaited call.
  private actor taskHome {
    private let client = Client("a", Journal())

    func add(to center: MulticastCenter) {
      client.onChange = { [center] level in
        if level > 0 { center.notify(PowerProtocol.self) { $0.powerChanged(level - 1) } }
      }
      center.add(client, for: PowerProtocol.self)
    }
  }

  @Test func aNotifyInACallInAnActorIsNestedThereWhateverTheActorIsCalled() async throws {
    let home = taskHome()
    await home.add(to: center)
    await center.post(PowerProtocol.self) { $0.powerChanged(1) }.delivered()
    await center.settled()
    let events = try events(of: timeline)
    let names = slices(events).map { "\($0.name) \($0.track)" }
    let track = try #require(slices(events).last { $0.name == "post PowerProtocol" }).track
    #expect(names.contains("notify PowerProtocol \(track)"), "\(names)")
    extendLifetime(home)
  }

  @Test func aRefusedDeliveryIsNestedInTheCallThatMadeIt() throws {
    let client = Client("a", Journal())
    let center = MulticastCenter(onRecursion: { _ in }, onDelivery: timeline.record)
    func notify() { center.notify(PowerProtocol.self) { $0.powerChanged(1) } }
    client.onChange = { _ in notify() }
    center.add(client, for: PowerProtocol.self, on: nil)
    notify()
    client.onChange = nil
    let events = try events(of: timeline)
    #expect(
      slices(events).map(\.name) == [
        "notify PowerProtocol", "Client", "notify PowerProtocol refused",
      ])
    expectNesting(events)
  }

  /// Awaited calls overlap, and may return on another thread.
  @Test func passesThatOverlapHaveTracksOfTheirOwn() async throws {
    let topic = Topic<Int>("awaited")
    let owner = Counter()
    for id in 1...3 {
      center.observe(topic, owner: owner, id: id) { _, number in
        for _ in 0..<number { await Task.yield() }
      }
    }
    for number in [3, 1, 2] { await center.post(topic, number).delivered() }
    await ended(12)
    expectNesting(try events(of: timeline))
    extendLifetime(owner)
  }

  @Test func anyNameIsValidJSON() throws {
    let name = "quote \" backslash \\ line\nnul \0 del \u{7F} separator \u{2028} party 🎉"
    center.post(Topic<Int>(name), 1)
    let slice = try #require(slices(events(of: timeline)).first)
    #expect(slice.name == "post \(Topic<Int>(name))")
  }

  @Test func aDeliveryThatIsStillCallingIsLeftOut() throws {
    let names = Collected<[String]>()
    let (first, second) = (Client("a", Journal()), Client("b", Journal()))
    second.onChange = { [timeline] _ in
      names.add((try? slices(events(of: timeline)).map(\.name)) ?? ["invalid"])
    }
    for client in [first, second] { center.add(client, for: PowerProtocol.self, on: nil) }
    center.notify(PowerProtocol.self) { $0.powerChanged(1) }
    second.onChange = nil
    #expect(names.all == [["Client"]])
    #expect(
      try slices(events(of: timeline)).map(\.name) == ["notify PowerProtocol", "Client", "Client"])
  }

  @Test func aFullTimelineKeepsTheNewestSlices() throws {
    let timeline = DeliveryTimeline(limit: 3)
    let center = MulticastCenter(onDelivery: timeline.record)
    for number in 1...8 { center.post(Topic<Int>("\(number)"), number) }
    #expect(try slices(events(of: timeline)).map { $0.arguments["delivery"] as? Int } == [6, 7, 8])
  }

  /// Otherwise a program whose homes come and go would grow, although the number of slices is limited.
  @Test func aFullTimelineForgetsTheTracksOfReplacedSlices() async throws {
    let timeline = DeliveryTimeline(limit: 3)
    let center = MulticastCenter(onDelivery: timeline.record)
    for number in 1...8 {
      let client = Counter()
      center.add(client, for: PowerProtocol.self, on: DispatchQueue(label: "\(number)"))
      center.post(PowerProtocol.self) { $0.powerChanged(number) }
      let slices = ["post PowerProtocol", "Counter"]
      while try tracks(in: events(of: timeline))["queue \(number)"] != slices { await Task.yield() }
      center.remove(client)
    }
    // The thread that posts, the last queue, and the one before it, whose slices have been replaced.
    #expect(try tracks(in: events(of: timeline)).count == 3)
  }

  @Test func manyThreadsCanRecordAndWriteAtTheSameTime() async throws {
    let counter = Counter()
    center.add(counter, for: PowerProtocol.self, on: nil)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { [center, timeline] in
          for level in 0..<50 {
            center.notify(PowerProtocol.self) { $0.powerChanged(level) }
            if level % 10 == 0 { _ = timeline.json }
          }
        }
      }
    }
    let events = try events(of: timeline)
    expectNesting(events)
    #expect(slices(events).count == 800)
    extendLifetime(counter)
  }
}
