import CNATS
import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import NIOConcurrencyHelpers
import NIOCore

/// How messages follow each other.
private struct Pace {
  let name: String
  /// How many messages are posted without a pause.
  let burst: Int
  /// How long the pause is, in milliseconds.
  let pause: Int
  let count: Int
}

/// What a message costs: the processor time of one process that publishes and three that receive, all
/// together, beside the same number of payloads through the C client alone.
func measure(_ options: Options) async throws {
  let count = max(2_000, options.number("count"))
  let engine = try await Engine(.nats)
  let paces = [
    Pace(name: "200 every 20 ms, goal 25", burst: 200, pause: 20, count: count),
    // No more than may wait for the handlers.
    Pace(name: "all at once", burst: .max, pause: 0, count: min(count, 8_000)),
    Pace(name: "one each ms", burst: 1, pause: 1, count: count / 10),
  ]
  for pace in paces {
    var results: [String: Double] = [:]
    for _ in 0..<3 {
      for way in ["plain", "binary", "json"] {
        let time = try await processorTime(of: way, pace, engine)
        results[way] = min(results[way] ?? .infinity, time / Double(pace.count))
      }
    }
    print(
      String(
        format:
          "MEASURED CPU per message, 1 out and 3 in, %@: %.1f µs in JSON, %.1f in bytes; plain C %.1f",
        pace.name, results["json"] ?? .nan, results["binary"] ?? .nan, results["plain"] ?? .nan))
  }
  withExtendedLifetime(engine) {}
}

/// Of all four processes, in microseconds.
private func processorTime(
  of way: String, _ pace: Pace, _ engine: Engine
) async throws -> Double {
  let common = ["way=\(way)", "engine=\(engine.url)", "count=\(pace.count)"]
  let receivers = try (1...3).map { number in
    try Program(CommandLine.arguments[0], ["receive", "name=r\(number)"] + common)
  }
  for receiver in receivers {
    try await eventually("a receiver is ready") { receiver.text("out").contains("ready") }
  }
  let sender = try Program(
    CommandLine.arguments[0],
    ["send", "name=s", "peers=3", "burst=\(pace.burst)", "pause=\(pace.pause)"] + common)
  var total = 0.0
  for program in receivers + [sender] {
    _ = try await program.status()
    let line = program.text("out").split(separator: "\n").last { $0.hasPrefix("cpu ") }
    total += line.flatMap { Double($0.dropFirst(4)) } ?? .nan
  }
  return total
}

/// In microseconds.
private var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) * 1e6 }

private func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Posts in bursts, with a pause after each.
private func pace(_ options: Options, _ post: (Int) -> Void) async throws {
  for number in 0..<options.number("count") {
    post(number)
    guard (number + 1).isMultiple(of: options.number("burst")) else { continue }
    try await Task.sleep(for: .milliseconds(options.number("pause")))
  }
}

func send(_ options: Options) async throws {
  if options.text("way") == "plain" {
    let connection = plain(options)
    let start = processorTime
    let bytes = [UInt8](repeating: 65, count: 110)
    try await pace(options) { _ in
      natsConnection_Publish(connection, "plain", bytes, Int32(bytes.count))
    }
    natsConnection_Flush(connection)
    return tell("cpu \(processorTime - start)")
  }
  let (center, carriage) = try carriage(options)
  let task = Task { await carriage.run() }
  while carriage.condition.lag.count < options.number("peers") {
    try await Task.sleep(for: .milliseconds(10))
  }
  let start = processorTime
  try await pace(options) { center.post(.note, Note(sender: "sender", number: $0)) }
  task.cancel()
  await task.value
  tell("cpu \(processorTime - start)")
}

func receive(_ options: Options) async throws {
  let count = options.number("count")
  if options.text("way") == "plain" {
    let connection = plain(options)
    var subscription: OpaquePointer?
    natsConnection_Subscribe(
      &subscription, connection, "plain",
      { _, _, message, _ in
        natsMsg_Destroy(message)
        received.add()
      }, nil)
    natsConnection_Flush(connection)
    tell("ready")
    let start = processorTime
    await received.reaches(count)
    return tell("cpu \(processorTime - start)")
  }
  let (center, carriage) = try carriage(options)
  center.observe(.note, owner: received) { received, _ in received.add() }
  let task = Task { await carriage.run() }
  while carriage.condition.connection != .connected { try await Task.sleep(for: .milliseconds(10)) }
  tell("ready")
  let start = processorTime
  await received.reaches(count)
  tell("cpu \(processorTime - start)")
  task.cancel()
}

private let received = Received()

/// Counts what arrives. Nobody is woken before the last one.
private final class Received: Sendable {
  private let state = NIOLockedValueBox<
    (count: Int, goal: Int, end: CheckedContinuation<Void, Never>?)
  >(
    (0, .max, nil))

  func add() {
    let end = state.withLockedValue { state in
      state.count += 1
      return state.count == state.goal ? state.end : nil
    }
    end?.resume()
  }

  func reaches(_ goal: Int) async {
    await withCheckedContinuation { end in
      let isThere = state.withLockedValue { state in
        (state.goal, state.end) = (goal, end)
        return state.count >= goal
      }
      if isThere { end.resume() }
    }
  }
}

private func plain(_ options: Options) -> OpaquePointer? {
  var connection: OpaquePointer?
  natsConnection_ConnectTo(&connection, options.text("engine"))
  return connection
}

private func carriage(_ options: Options) throws -> (MulticastCenter, Carriage) {
  let name = options.text("name")
  let center = MulticastCenter(carrying: .carriage)
  let carriage = Carriage(
    center: center, carrier: try carrier(options.text("engine"), name: name), name: name)
  if options.text("way") == "json" {
    carriage.carry(.note, as: "note")
  } else {
    carriage.carry(.note, as: "note", codec: NoteCodec())
  }
  return (center, carriage)
}

/// A topic's own codec: the name's length, the name, and the number.
private struct NoteCodec: MessageCodec {
  func encode(_ note: Note, into bytes: inout ByteBuffer) throws {
    bytes.writeInteger(UInt32(note.sender.utf8.count))
    bytes.writeString(note.sender)
    bytes.writeInteger(note.number)
  }
  func decode(_ bytes: ByteBuffer) throws -> Note {
    var bytes = bytes
    guard let count = bytes.readInteger(as: UInt32.self),
      let sender = bytes.readString(length: Int(count)),
      let number = bytes.readInteger(as: Int.self)
    else { throw CocoaError(.coderReadCorrupt) }
    return Note(sender: sender, number: number)
  }
}
