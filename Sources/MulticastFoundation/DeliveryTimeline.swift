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
/// each home, and one for each thread that notifies or posts. Threads, and homes of one name, that never do so
/// at the same time share a track. A track shows the deliveries there, and the calls in each. Arrows lead from
/// a call to the deliveries that it caused, and from a post to its calls in other homes. Select a delivery to
/// see its call site, and how long it waited.
///
/// A timeline is for one center, because deliveries of two centers have the same numbers. It stores no
/// clients and no messages, only the names of types. You may call every method on any thread.
public final class DeliveryTimeline: Sendable {
  private let state: Locked<State>

  /// Creates an empty timeline.
  ///
  /// - Parameter limit: The number of calls and deliveries that are kept. Later ones replace the oldest ones.
  ///   100,000 take about 30 MB. Less than 1 stops the program.
  public init(limit: Int = 100_000) {
    if limit < 1 { fatalError("Multicast: DeliveryTimeline(limit: \(limit)); use 1 or more") }
    state = Locked(State(limit: limit))
  }

  /// Records an event. Pass this method as the `onDelivery` of a center.
  ///
  /// - Complexity: O(*t*) in the number of tracks.
  @Sendable public func record(_ event: DeliveryEvent) {
    let (thread, isMain) = (ObjectIdentifier(Thread.current), MainActor.isHere)
    state.withLock { $0.record(event, on: thread, isMain) }
  }

  /// What was recorded, as a file in the trace event format of Chromium.
  ///
  /// Deliveries that are still calling are not in the file, only their calls that have returned. Nothing is
  /// removed, so you may write the file again later.
  ///
  /// - Complexity: O(*n* log *n*) for *n* calls and deliveries, and O(*n* · *k*) if *k* calls of one delivery that
  ///   causes others overlap. Deliveries do not wait while the file is made; the next one copies what was recorded,
  ///   in O(*n*).
  public var json: Data {
    let (slices, tracks) = state.withLock { ($0.slices, $0.tracks.map(\.name)) }
    // Of slices that begin at one time, the outer one is first.
    let sorted = slices.sorted { ($0.start, $1.event.time) < ($1.start, $0.event.time) }
    let file = TraceFile(sorted, on: tracks)
    return Data("{\"traceEvents\":[\n\(file.events.joined(separator: ",\n"))\n]}\n".utf8)
  }
}

/// A delivery, a call or a refusal: its last event, and where and when it began.
private struct Slice {
  let event: DeliveryEvent
  let track: Int
  let start: UInt64

  var isPass: Bool { if case .ended = event.phase { true } else { false } }
  var isRefusal: Bool { if case .refused = event.phase { true } else { false } }

  /// When the delivery was made, if this is its first pass; otherwise, when the letter was left.
  var made: UInt64 { start - (event.waited ?? 0) }

  var name: String {
    if case .called(let client, _) = event.phase { return "\(client)" }
    return "\(event.way) \(event.key)\(isRefusal ? " refused" : "")"
  }

  var arguments: String {
    let cause = event.cause.map { #","cause":\#($0)"# } ?? ""
    let waited = event.waited.map { #","waited µs":\#(microseconds($0))"# } ?? ""
    let key = #""key":\#(quoted(event.key)),"site":\#(quoted(event.site.description))"#
    return #""delivery":\#(event.delivery)\#(cause)\#(waited),\#(key)"#
  }
}

// MARK: - Recording

private struct State {
  /// A row of slices, in which any two are nested or follow each other. Passes of one name that overlap have several tracks.
  struct Track {
    var name: String
    var activePasses = 0
    var end: UInt64 = 0
    /// The number of its slices that are kept. Without any, the track may get another name, so that there are not more tracks
    /// than slices and active passes.
    var slices = 0
  }

  let limit: Int
  var slices: [Slice] = []
  var oldest = 0
  var tracks: [Track] = []
  var passes: [UInt64: Slice] = [:]
  /// The tracks of the passes that are active on each thread, innermost last.
  var stacks: [ObjectIdentifier: [Int]] = [:]

  mutating func record(_ event: DeliveryEvent, on thread: ObjectIdentifier, _ isMain: Bool) {
    // A task that awaits changes threads.
    let isAwaiting = event.way == .awaiting || event.isInTask
    let thread = isAwaiting ? nil : thread
    let name = event.home ?? (isAwaiting ? "awaiting" : isMain ? "MainActor" : "thread")
    switch event.phase {
    case .began, .refused:
      let track = track(for: event, named: name, on: thread)
      let slice = Slice(event: event, track: track, start: event.time)
      if slice.isRefusal { return keep(slice) }
      tracks[track].activePasses += 1
      if let thread { stacks[thread, default: []].append(track) }
      passes[event.pass] = slice
    case .called(_, let time):
      guard let pass = passes[event.pass] else { return }
      keep(Slice(event: event, track: pass.track, start: event.time - time))
    case .left: break
    case .ended:
      guard let pass = passes.removeValue(forKey: event.pass) else { return }
      tracks[pass.track].activePasses -= 1
      tracks[pass.track].end = event.time
      if let thread, stacks[thread]?.popLast() != nil, stacks[thread] == [] { stacks[thread] = nil }
      keep(Slice(event: event, track: pass.track, start: pass.start))
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
      track.activePasses == 0 && track.end <= event.time
        && (track.name == name || track.slices == 0)
    }
    if free == nil { tracks.append(Track(name: name)) }
    let track = free ?? tracks.count - 1
    tracks[track].name = name
    return track
  }

  private mutating func keep(_ slice: Slice) {
    tracks[slice.track].slices += 1
    if slices.count < limit { return slices.append(slice) }
    tracks[slices[oldest].track].slices -= 1
    slices[oldest] = slice
    oldest = (oldest + 1) % limit
  }
}

// MARK: - Writing

/// The events of the file: names of tracks, slices, and arrows. They are texts, because `JSONSerialization` takes several times as
/// long for dictionaries.
private struct TraceFile {
  private(set) var events: [String] = []
  /// Times begin with the first slice, because numbers in a viewer are precise only if they are small.
  private let origin: UInt64

  init(_ slices: [Slice], on tracks: [String]) {
    origin = slices.first?.start ?? 0
    add("M", 0, at: origin, #""name":"process_name","args":{"name":"deliveries"}"#)
    var numbers: [String: Int] = [:]
    for (track, name) in tracks.enumerated() {
      numbers[name, default: 0] += 1
      let title = quoted(numbers[name] == 1 ? name : "\(name) (\(numbers[name, default: 0]))")
      add("M", track, at: origin, #""name":"thread_name","args":{"name":\#(title)}"#)
    }
    for slice in slices {
      let fields = #""name":\#(quoted(slice.name)),"args":{\#(slice.arguments)}"#
      let duration = microseconds(slice.event.time - slice.start)
      add("X", slice.track, at: slice.start, #""dur":\#(duration),\#(fields)"#)
    }
    addArrows(between: slices)
  }

  /// Adds an arrow to each pass from the pass that left its letter, or from the call that made its delivery.
  ///
  /// One delivery may cause thousands. So this goes through the deliveries in the order in which they were made, and keeps the
  /// slices of each cause that are active at that time, instead of a search among all of its slices.
  private mutating func addArrows(between slices: [Slice]) {
    let posts = Dictionary(grouping: slices.filter { !$0.event.isOfLetter }, by: \.event.delivery)
    var coming = Dictionary(grouping: slices.reversed(), by: \.event.delivery)
    var active: [UInt64: [Slice]] = [:]
    for pass in slices.filter(\.isPass).sorted(by: { $0.made < $1.made }) {
      if pass.event.isOfLetter, let post = posts[pass.event.delivery]?.first {
        addArrow(from: post, to: pass)
      } else if let cause = pass.event.cause {
        while let slice = coming[cause]?.last, slice.start <= pass.made {
          active[cause, default: []].append(slice)
          coming[cause]?.removeLast()
        }
        active[cause]?.removeAll { $0.event.time < pass.made }
        let calls = active[cause] ?? []
        let call = calls.last { $0.track == pass.track } ?? calls.last
        // A pass that is nested in its cause needs no arrow.
        if let call, call.track != pass.track || call.event.time < pass.start {
          addArrow(from: call, to: pass)
        }
      }
    }
  }

  private mutating func addArrow(from source: Slice, to pass: Slice) {
    let fields = #""name":"cause","cat":"cause","id":\#(pass.event.pass)"#
    // Perfetto takes the last slice that has begun for the one in which an arrow begins.
    add("s", source.track, at: source.start, fields)
    add("f", pass.track, at: pass.start, #"\#(fields),"bp":"e""#)
  }

  private mutating func add(_ phase: String, _ track: Int, at time: UInt64, _ fields: String) {
    // Perfetto takes a thread that has the number of its process for the main thread.
    let place = #""ph":"\#(phase)","pid":1,"tid":\#(track + 2)"#
    events.append(#"{\#(place),"ts":\#(microseconds(time - origin)),\#(fields)}"#)
  }
}

private func microseconds(_ nanoseconds: UInt64) -> String { "\(Double(nanoseconds) / 1_000)" }

/// A text as JSON. It is in an array, because not every system encodes a text alone.
private func quoted(_ text: String) -> String {
  // A text can always be encoded.
  let array = (try? JSONEncoder().encode([text])) ?? Data()
  return String(decoding: array.dropFirst().dropLast(), as: UTF8.self)
}
