import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting

private struct Price: Codable, Sendable {
  let number: Int
  /// The time of the post, in nanoseconds of this machine.
  let time: UInt64
}

extension Topic where Message == Price {
  fileprivate static var price: Self { Topic("price") }
}

/// A codec for this one type, as a C program would have it. The bytes are those of JSON, with the two numbers in this order.
private struct PriceCodec: MessageCodec {
  func encode(_ price: Price, into bytes: inout [UInt8]) {
    bytes += #"{"number":\#(price.number),"time":\#(price.time)}"#.utf8
  }

  func decode(_ bodies: [ArraySlice<UInt8>]) throws -> [Price] {
    bodies.compactMap { body in
      var numbers: [UInt64] = []
      var isInNumber = false
      for byte in body {
        let digit = byte &- UInt8(ascii: "0")
        defer { isInNumber = digit < 10 }
        guard digit < 10 else { continue }
        if isInNumber {
          numbers[numbers.count - 1] = numbers[numbers.count - 1] &* 10 &+ UInt64(digit)
        } else {
          numbers.append(UInt64(digit))
        }
      }
      return numbers.count == 2 ? Price(number: Int(numbers[0]), time: numbers[1]) : nil
    }
  }
}

/// - Parameter codec: `json`, or `plain` for the codec above.
private func makeCarriage(
  _ center: MulticastCenter, _ carrier: any Carrier, codec: String
) -> Carriage {
  var limits = Carriage.Limits()
  // Room for all messages of the largest burst.
  (limits.waitingBytes, limits.waitingMessages) = (1 << 28, 1_000_000)
  let carriage = Carriage(
    center: center, carrier: carrier, name: "\(getpid())", limits: limits)
  if codec == "plain" {
    carriage.carry(.price, as: "price", codec: PriceCodec())
  } else {
    carriage.carry(.price, as: "price")
  }
  return carriage
}

/// Writes a line with the latencies of a burst at the end of each burst, which is a price of number 0.
private final class Receiver: Sendable {
  private let latencies = Locked<[UInt64]>([])

  func take(_ price: Price) {
    let latency = DispatchTime.now().uptimeNanoseconds &- price.time
    if price.number > 0 { return latencies.withLock { $0.append(latency) } }
    let all = latencies.withLock { all in
      defer { all = [] }
      return all.sorted()
    }
    let (half, most) = all.isEmpty ? (0, 0) : (all[all.count / 2], all[all.count * 99 / 100])
    FileHandle.standardOutput.write(
      Data("done \(all.count) \(half / 1_000) \(most / 1_000)\n".utf8))
  }
}

/// Receives prices until it is killed, as a process of ``measure(_:_:_:codec:)``.
func receive(_ carrier: any Carrier, codec: String) async {
  let (center, receiver) = (MulticastCenter(carrying: .carriage), Receiver())
  center.observe(.price, owner: receiver) { receiver, price in receiver.take(price) }
  await makeCarriage(center, carrier, codec: codec).run()
  extendLifetime(receiver)
}

/// Measures the cost of a message that one process posts and three processes receive.
///
/// - Parameters:
///   - arguments: The arguments of a receiving process.
///   - codec: `json`, or `plain` for a codec that knows the type.
func measure(
  _ name: String, _ arguments: [String], _ carrier: any Carrier, codec: String
) async throws {
  let receivers = try (0..<3).map { _ in try Program(CommandLine.arguments[0], arguments) }
  let center = MulticastCenter(carrying: .carriage)
  let carriage = makeCarriage(center, carrier, codec: codec)
  let task = Task { await carriage.run() }
  func post(_ number: Int) {
    center.post(.price, Price(number: number, time: DispatchTime.now().uptimeNanoseconds))
  }
  /// The number of lines that each receiver has written.
  var heard: [Int] = []
  func lines() -> [[Substring]] { receivers.map { $0.text("out").split(separator: "\n") } }
  /// Returns the next line of each receiver, after all have written one more.
  func ends() async throws -> [Substring] {
    heard = heard.map { $0 + 1 }
    while true {
      let lines = lines()
      if zip(lines, heard).allSatisfy({ $0.count >= $1 }) {
        return zip(lines, heard).map { $0[$1 - 1] }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
  while lines().contains(where: \.isEmpty) {
    post(0)
    try await Task.sleep(for: .milliseconds(100))
  }
  // All have received the last of these messages.
  try await Task.sleep(for: .seconds(2))
  heard = lines().map(\.count)
  for (pace, burst, pause, count) in [
    ("200 every 20 ms", 200, 20, 40_000), ("200,000 at once", 200_000, 0, 200_000),
    ("one every 2 ms", 1, 2, 3_000),
  ] {
    let begin = ContinuousClock.now
    let (start, engine) = (processorTime("Node") + ownTime, processorTime("-server"))
    for number in 1...count {
      post(number)
      if pause > 0, number % burst == 0 { try await Task.sleep(for: .milliseconds(pause)) }
    }
    post(0)
    let ends = try await ends()
    let rate = Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
    let all = (processorTime("Node") + ownTime - start, processorTime("-server") - engine)
    print(
      String(
        format:
          "MEASURED %@, %@, %@: %.1f µs of processor time for a message, and %.1f of the engine; %@",
        name, codec, pace, all.0 / Double(count), all.1 / Double(count),
        burst == 1
          ? "messages, p50, p99 in µs: \(ends)" : String(format: "%.0f messages a second", rate)))
  }
  task.cancel()
  await task.value
}

/// The processor time of this process, in microseconds.
private var ownTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) * 1e6 }

/// The processor time of the programs with this name that this process has started, in microseconds; 0 where the system
/// does not report it.
private func processorTime(_ name: String) -> Double {
  let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return all.filter { Int($0) != nil }.reduce(0) { sum, process in
    let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    // After the name come the state, the parent, …, and as the 12th and 13th the user's and the system's time.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, Int32(fields[1]) == getpid(), text.contains("\(name))") else {
      return sum
    }
    return sum + ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) * 10_000
  }
}
