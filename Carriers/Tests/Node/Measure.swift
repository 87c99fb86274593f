import CNATS
import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import NIOConcurrencyHelpers
import NIOCore

/// What a message costs: the processor time of one process that publishes and three that receive, all
/// together, beside the same bytes through the C client alone.
func measure(_ options: Options) async throws {
  let count = max(1_000, options.number("count"))
  let engine = try await Engine(.nats)
  var results: [String: Double] = [:]
  for _ in 0..<3 {
    for way in ["plain", "binary", "json"] {
      let receivers = try (1...3).map { number in
        try Program(
          CommandLine.arguments[0],
          ["receive", "way=\(way)", "engine=\(engine.url)", "name=r\(number)", "count=\(count)"])
      }
      for receiver in receivers {
        try await eventually("a receiver is ready") { receiver.text("out").contains("ready") }
      }
      let sender = try Program(
        CommandLine.arguments[0],
        ["send", "way=\(way)", "engine=\(engine.url)", "name=s", "count=\(count)", "peers=3"])
      var total = 0.0
      for program in receivers + [sender] {
        _ = try await program.status()
        let line = program.text("out").split(separator: "\n").last { $0.hasPrefix("cpu ") }
        total += line.flatMap { Double($0.dropFirst(4)) } ?? .nan
      }
      results[way] = min(results[way] ?? .infinity, total / Double(count))
    }
  }
  print(
    String(
      format:
        "MEASURED CPU per message, 1 out and 3 in: %.1f µs in JSON, %.1f in bytes; plain C %.1f; goal 25",
      results["json"] ?? .nan, results["binary"] ?? .nan, results["plain"] ?? .nan))
  withExtendedLifetime(engine) {}
}

/// In microseconds.
private var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) * 1e6 }

private func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Posts in bursts of two hundred, fifty times a second at most.
private func pace(_ count: Int, _ post: (Int) -> Void) async throws {
  for number in 0..<count {
    post(number)
    if number % 200 == 199 { try await Task.sleep(for: .milliseconds(20)) }
  }
}

func send(_ options: Options) async throws {
  let count = options.number("count")
  if options.text("way") == "plain" {
    let connection = plain(options)
    let start = processorTime
    let bytes = [UInt8](repeating: 65, count: 110)
    try await pace(count) { _ in
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
  try await pace(count) { center.post(.note, Note(sender: "sender", number: $0)) }
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
      { _, _, message, closure in
        natsMsg_Destroy(message)
        closure?.assumingMemoryBound(to: Int.self).pointee += 1
      }, received)
    natsConnection_Flush(connection)
    tell("ready")
    let start = processorTime
    while received.pointee < count { try await Task.sleep(for: .milliseconds(20)) }
    return tell("cpu \(processorTime - start)")
  }
  let (center, carriage) = try carriage(options)
  let heard = Heard()
  center.observe(.note, owner: heard) { heard, _ in heard.count.withLockedValue { $0 += 1 } }
  let task = Task { await carriage.run() }
  while carriage.condition.connection != .connected { try await Task.sleep(for: .milliseconds(10)) }
  tell("ready")
  let start = processorTime
  while heard.count.withLockedValue({ $0 }) < count { try await Task.sleep(for: .milliseconds(20)) }
  tell("cpu \(processorTime - start)")
  task.cancel()
}

private final class Heard: Sendable {
  let count = NIOLockedValueBox(0)
}

/// Counts on the one thread on which the client delivers, and is read on another, which sees the end sooner
/// or later.
private nonisolated(unsafe) let received: UnsafeMutablePointer<Int> = {
  let pointer = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  pointer.initialize(to: 0)
  return pointer
}()

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
