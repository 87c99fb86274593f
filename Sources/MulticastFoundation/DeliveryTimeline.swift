import Foundation
import Multicast

/// Records the deliveries of a center, and writes them as a file that a trace viewer opens.
///
/// <!-- example: in Timeline -->
/// ```swift
/// let timeline = DeliveryTimeline()
/// let center = MulticastCenter(onDelivery: timeline.record)
/// // Later:
/// try timeline.json.write(to: url)
/// ```
///
/// Open the file in Perfetto, at ui.perfetto.dev, or in Chromium, at `chrome://tracing`. There is a track for
/// each home, and one for each thread that notifies or posts. Threads that never do so at the same time share a
/// track. A track shows the deliveries there, and the calls in each. Arrows lead from a call to the deliveries
/// that it caused, and from a post to its calls in other homes. Select a delivery to see its call site, and how
/// long it waited.
///
/// A timeline is for one center, because deliveries of two centers have the same numbers. It stores no
/// clients and no messages, only the names of types. You may call every method on any thread.
public final class DeliveryTimeline: Sendable {
  private let state: Locked<State>

  /// Creates an empty timeline.
  ///
  /// - Parameter limit: The number of calls and deliveries that are kept. Later ones replace the oldest ones.
  ///   100,000 take about 30 MB.
  public init(limit: Int = 100_000) {
    precondition(limit > 0, "Multicast: DeliveryTimeline(limit: \(limit)); use 1 or more")
    state = Locked(State(limit: limit))
  }

  /// Records an event. Pass this method as the `onDelivery` of a center.
  @Sendable public func record(_ event: DeliveryEvent) {
    let (thread, isMain) = (ObjectIdentifier(Thread.current), MainActor.isHere)
    state.withLock { $0.record(event, on: thread, isMain) }
  }

  /// What was recorded, as a file in the trace event format of Chromium.
  ///
  /// Deliveries that are still calling are left out, and stay recorded. So are all others: you may write the
  /// file again later.
  ///
  /// - Complexity: O(*n* log *n*) for *n* calls and deliveries, and quadratic in the number of deliveries that one
  ///   delivery has caused. Deliveries do not wait for it.
  public var json: Data {
    let (slices, tracks) = state.withLock { ($0.slices, $0.tracks.map(\.name)) }
    let file = TraceFile(slices.sorted { $0.start < $1.start }, on: tracks)
    return Data("{\"traceEvents\":[\n\(file.events.joined(separator: ",\n"))\n]}\n".utf8)
  }
}

/// A delivery, a call or a refusal: its last event, and where and when it began.
private struct Slice {
  var event: DeliveryEvent
  let track: Int
  let start: UInt64

  var isPass: Bool { if case .ended = event.phase { true } else { false } }
}

// MARK: - Recording

private struct State {
  /// A row of slices, in which any two are nested or follow each other. Passes of one name that overlap have several tracks.
  struct Track {
    let name: String
    var activePasses = 0
    var end: UInt64 = 0
  }

  let limit: Int
  private(set) var slices: [Slice] = []
  private var oldest = 0
  private(set) var tracks: [Track] = []
  private var passes: [UInt64: Slice] = [:]
  /// The tracks of the passes that are active on each thread, innermost last.
  private var stacks: [ObjectIdentifier: [Int]] = [:]

  init(limit: Int) { self.limit = limit }

  mutating func record(_ event: DeliveryEvent, on thread: ObjectIdentifier, _ isMain: Bool) {
    // A task that awaits changes threads.
    let isAwaiting = event.way == .awaiting || event.home?.hasPrefix("task") == true
    let thread = isAwaiting ? nil : thread
    let name = event.home ?? (isAwaiting ? "awaiting" : isMain ? "MainActor" : "thread")
    switch event.phase {
    case .began:
      let track = track(for: event, named: name, on: thread)
      tracks[track].activePasses += 1
      if let thread { stacks[thread, default: []].append(track) }
      passes[event.pass] = Slice(event: event, track: track, start: event.time)
    case .called(_, let time):
      guard let pass = passes[event.pass] else { return }
      keep(Slice(event: event, track: pass.track, start: event.time - time))
    case .left: break
    case .ended:
      guard var pass = passes.removeValue(forKey: event.pass) else { return }
      tracks[pass.track].activePasses -= 1
      tracks[pass.track].end = event.time
      if let thread, stacks[thread]?.popLast() != nil, stacks[thread] == [] { stacks[thread] = nil }
      pass.event = event
      keep(pass)
    case .refused:
      let track = track(for: event, named: name, on: thread)
      keep(Slice(event: event, track: track, start: event.time))
    }
  }

  /// The track of the pass in which another one is nested; otherwise the first one of its name that is free.
  private mutating func track(
    for event: DeliveryEvent, named name: String, on thread: ObjectIdentifier?
  ) -> Int {
    let outer = thread.flatMap { stacks[$0]?.last }
    if let outer, event.home == nil || tracks[outer].name == name { return outer }
    // Another thread may report the end of a pass before this one reports a beginning that was earlier.
    let free = tracks.firstIndex { track in
      track.name == name && track.activePasses == 0 && track.end <= event.time
    }
    if let free { return free }
    tracks.append(Track(name: name))
    return tracks.count - 1
  }

  private mutating func keep(_ slice: Slice) {
    if slices.count < limit { return slices.append(slice) }
    slices[oldest] = slice
    oldest = (oldest + 1) % limit
  }
}

// MARK: - Writing

/// The events of the file, as texts: names of tracks, slices, and arrows.
private struct TraceFile {
  private(set) var events: [String] = []
  /// Times begin with the first slice, because numbers in a viewer are precise only if they are small.
  private let origin: UInt64

  init(_ slices: [Slice], on tracks: [String]) {
    origin = slices.first?.start ?? 0
    add("M", 0, at: origin, #""name":"process_name","args":{"name":"deliveries"}"#)
    for (track, name) in tracks.enumerated() {
      let number = tracks[...track].count { $0 == name }
      let title = quoted(number == 1 ? name : "\(name) (\(number))")
      add("M", track, at: origin, #""name":"thread_name","args":{"name":\#(title)}"#)
    }
    for slice in slices {
      let fields = #""name":\#(quoted(slice.name)),"args":{\#(slice.arguments)}"#
      let duration = microseconds(slice.event.time - slice.start)
      add("X", slice.track, at: slice.start, #""dur":\#(duration),\#(fields)"#)
    }
    let deliveries = Dictionary(grouping: slices, by: \.event.delivery)
    for (id, pass) in slices.enumerated() where pass.isPass {
      guard let source = pass.source(in: deliveries) else { continue }
      let fields = #""name":"cause","cat":"cause","id":\#(id)"#
      // Perfetto takes the last slice that has begun for the one in which an arrow begins.
      add("s", source.track, at: source.start, fields)
      add("f", pass.track, at: pass.start, #"\#(fields),"bp":"e""#)
    }
  }

  private mutating func add(_ phase: String, _ track: Int, at time: UInt64, _ fields: String) {
    // Perfetto takes a thread that has the number of its process for the main thread.
    let place = #""ph":"\#(phase)","pid":1,"tid":\#(track + 2)"#
    events.append(#"{\#(place),"ts":\#(microseconds(time - origin)),\#(fields)}"#)
  }
}

extension Slice {
  fileprivate var name: String {
    switch event.phase {
    case .called(let client, _): "\(client)"
    case .refused: "\(event.way) \(event.key) refused"
    default: "\(event.way) \(event.key)"
    }
  }

  fileprivate var arguments: String {
    let cause = event.cause.map { #","cause":\#($0)"# } ?? ""
    let waited = event.waited.map { #","waited µs":\#(microseconds($0))"# } ?? ""
    let key = #""key":\#(quoted(event.key)),"site":\#(quoted(event.site.description))"#
    return #""delivery":\#(event.delivery)\#(cause)\#(waited),\#(key)"#
  }

  /// The slice from which an arrow leads to this pass: the pass that left its letter, or the call that made the delivery. Nil if the
  /// pass needs no arrow, because it is nested in its cause.
  fileprivate func source(in deliveries: [UInt64: [Slice]]) -> Slice? {
    let (number, made) = (event.pass, start - (event.waited ?? 0))
    let own = deliveries[event.delivery]
    if let first = own?.first(where: { $0.event.home == nil && $0.event.pass < number }) {
      return first
    }
    let all = event.cause.flatMap { deliveries[$0] } ?? []
    let causes = all.filter { $0.start <= made && made <= $0.event.time }
    let cause = causes.last { $0.track == track } ?? causes.last
    return cause.flatMap { $0.track != track || $0.event.time < start ? $0 : nil }
  }
}

private func microseconds(_ nanoseconds: UInt64) -> String { "\(Double(nanoseconds) / 1_000)" }

/// A text as JSON. Quotation marks, backslashes and control characters have to be escaped.
private func quoted(_ text: String) -> String {
  let escaped = text.unicodeScalars.map { scalar in
    switch scalar {
    case "\"", "\\": "\\\(scalar)"
    case ..<" ": String(format: "\\u%04x", scalar.value)
    default: String(scalar)
    }
  }
  return "\"\(escaped.joined())\""
}
