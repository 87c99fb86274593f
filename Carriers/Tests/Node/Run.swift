import Foundation
import Logging
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis
import NIOConcurrencyHelpers
import ServiceLifecycle

/// What a process of the tests does: `engine=<url> name=<name> peers=<n> rate=<per second> count=<n>
/// states=<n> scheme=stores repair=<seconds> after=<path of a file>`.
struct Options {
  let values: [String: String]
  init(_ words: some Sequence<String>) {
    values = Dictionary(
      words.map { word in
        let parts = word.split(separator: "=", maxSplits: 1)
        return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
      }, uniquingKeysWith: { $1 })
  }
  func text(_ name: String) -> String { values[name] ?? "" }
  func number(_ name: String) -> Int { Int(text(name)) ?? 0 }
}

struct Note: Codable, Sendable {
  let sender: String
  let number: Int
}

extension Topic where Message == Note {
  static var note: Self { Topic("note") }
  static func state(_ number: Int) -> Self { Topic("state.\(number)", keepsLatest: true) }
}

/// Lines of text, with the milliseconds of the machine's clock.
final class Lines: Sendable {
  private let waiting = NIOLockedValueBox("")

  func add(_ text: String) {
    let time = DispatchTime.now().uptimeNanoseconds / 1_000_000
    waiting.withLockedValue { $0 += "\(time) \(text)\n" }
  }
  func flush() {
    let text = waiting.withLockedValue { text in
      defer { text = "" }
      return text
    }
    if !text.isEmpty { FileHandle.standardOutput.write(Data(text.utf8)) }
  }
}

func carrier(_ url: String, name: String, stores: Bool = false) throws -> any Carrier {
  if url.hasPrefix("redis") {
    let configuration = try RedisCarrier.Configuration(url: url, name: name)
    return stores ? RedisStreamCarrier(configuration) : RedisCarrier(configuration)
  }
  let configuration = try NATSCarrier.Configuration(urls: url, name: name)
  return stores ? JetStreamCarrier(configuration) : NATSCarrier(configuration)
}

/// Tells what it posts and hears, one line each, until it is terminated.
func run(_ options: Options) async throws {
  let name = options.text("name")
  let lines = Lines()
  lines.add("started")
  LoggingSystem.bootstrap(StreamLogHandler.standardError)
  let center = MulticastCenter(carrying: .carriage)
  var limits = Carriage.Limits.patient
  if options.number("repair") > 0 { limits.repairTime = .seconds(Int64(options.number("repair"))) }
  let carriage = Carriage(
    center: center,
    carrier: try carrier(
      options.text("engine"), name: name, stores: options.text("scheme") == "stores"), name: name,
    prefix: options.text("scheme") == "stores" ? "stores" : "multicast", limits: limits)
  carriage.carry(.note, as: "note")
  center.observe(.note, owner: lines) { lines, note in
    lines.add("note \(note.sender) \(note.number)")
  }
  for number in 0..<options.number("states") {
    carriage.carry(.state(number), as: "state.\(number)")
    center.observe(.state(number), owner: lines) { lines, note in
      lines.add("state \(number) \(note.sender) \(note.number)")
    }
  }
  center.observe(.carriage, owner: lines) { lines, report in lines.add("report \(report)") }

  if options.text("scheme") == "stores" {
    Task {
      while !carriage.knowsItsPlaces { try await Task.sleep(for: .milliseconds(10)) }
      lines.add("report place")
    }
  }
  let poster = Poster(options, center, carriage)
  let writer = Writer(lines: lines)
  // They end in the opposite order: the carriage sends what the poster has posted.
  let group = ServiceGroup(
    configuration: .init(
      services: [writer, carriage, poster], gracefulShutdownSignals: [.sigterm],
      logger: Logger(label: "node")))
  try await group.run()
  lines.add("ended")
  lines.flush()
}

private struct Writer: Service {
  let lines: Lines
  func run() async throws {
    try? await cancelWhenGracefulShutdown {
      while true {
        lines.flush()
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}

/// Posts so many notes in a second when it knows the others, and one value of each state.
private struct Poster: Service {
  let options: Options
  let center: MulticastCenter
  let carriage: Carriage

  init(_ options: Options, _ center: MulticastCenter, _ carriage: Carriage) {
    self.options = options
    self.center = center
    self.carriage = carriage
  }

  func run() async throws {
    let name = options.text("name")
    try? await cancelWhenGracefulShutdown {
      while carriage.condition.lag.count < options.number("peers") {
        try await Task.sleep(for: .milliseconds(10))
      }
      let go = options.text("after")
      while !go.isEmpty, !FileManager.default.fileExists(atPath: go) {
        try await Task.sleep(for: .milliseconds(10))
      }
      if options.number("posts") > 0 {
        for number in 0..<options.number("states") {
          center.post(.state(number), Note(sender: name, number: number))
        }
      }
      let clock = ContinuousClock()
      let start = clock.now
      let rate = max(1, options.number("rate"))
      for number in 0..<options.number("count") {
        center.post(.note, Note(sender: name, number: number))
        try await clock.sleep(until: start + .microseconds(1_000_000 / rate * (number + 1)))
      }
      try await Task.sleep(for: .seconds(3_600))
    }
  }
}
