import Crypto
import Multicast
import MulticastCarrier

/// Checks the rules that every carrier follows. Use it as a test if you write a carrier for another engine.
///
/// ```swift
/// @Test func conforms() async throws {
///   let broken = try await CarrierConformance { MyCarrier(address) }.check()
///   #expect(broken.isEmpty)
/// }
/// ```
///
/// It waits without a limit for what a carrier must do, so give the test a time limit.
public struct CarrierConformance: Sendable {
  private let make: @Sendable () throws -> any Carrier
  /// New for each instance, so that an engine can be checked again.
  private let prefix = "conformance-\(UInt32.random(in: 0 ... .max))"

  /// - Parameter make: Creates a carrier for the running engine.
  public init(_ make: @escaping @Sendable () throws -> any Carrier) { self.make = make }

  private func log(_ type: String, keepsLatest: Bool = false) -> Log {
    Log(prefix: prefix, type: type, keepsLatest: keepsLatest)
  }

  private struct Findings {
    var broken: [String] = []
    mutating func expect(_ holds: Bool, _ sentence: String) {
      if !holds { broken.append(sentence) }
    }
  }

  /// Checks the carrier.
  ///
  /// - Returns: A sentence for each rule that the carrier breaks.
  public func check() async throws -> [String] {
    var findings = Findings()
    let (one, two) = (try make(), try make())
    try await reached(one)
    try await reached(two)
    try await checkLogs(one, two, &findings)
    try await checkNames(one, two, &findings)
    try await checkLatest(one, two, &findings)
    if let one = one as? any Registry, let two = two as? any Registry {
      try await checkRegistry(one, two, &findings)
    }
    try await checkClosing(one, two, &findings)
    try await checkIdentifiers(&findings)
    try await checkLargeRecords(&findings)
    try await checkCarriages(&findings)
    try await checkLatestUnderLoad(&findings)
    try await checkLife(&findings)
    try await checkKeys(&findings)
    return findings.broken
  }

  /// Returns when the engine can be reached. The carrier connects by itself.
  private func reached(_ carrier: any Carrier) async throws {
    while true {
      do { return _ = try await carrier.end(of: log("reached")) } catch CarrierError.disconnected {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  private func checkLogs(
    _ one: any Carrier, _ two: any Carrier, _ findings: inout Findings
  ) async throws {
    let log = log("log")
    let start = try await one.end(of: log)
    // Arbitrary bytes, no bytes, and as many bytes as the engine takes.
    let bytes: [[UInt8]] =
      [
        (0...255).map { UInt8($0) }, Array("\r\n$5\r\n".utf8), [],
        [UInt8](repeating: 0xA7, count: one.recordLimit),
      ] + (0..<100).map { Array("record \($0)".utf8) }
    var places: [Position] = []
    for record in bytes {
      places.append(try await one.append(record, to: log, id: .random(in: 0 ... .max)))
    }
    findings.expect(places == places.sorted(), "The positions of a log do not grow.")
    findings.expect(Set(places).count == places.count, "Two records have one position.")
    let end = try await two.end(of: log)
    findings.expect(
      Set(places.map(\.epoch)).count == 1, "A log has another epoch after an append.")
    findings.expect(start.number == 0, "A log without records does not end at its beginning.")
    findings.expect(
      start.epoch == places[0].epoch,
      "The end of a log without records has another epoch than the next record of the carrier.")
    findings.expect(end == places.last, "The end of a log is not the position of its last record.")
    let all = try await read(two, log, after: start, count: bytes.count)
    findings.expect(all.map(\.bytes) == bytes, "Records are read changed or out of order.")
    findings.expect(
      all.map(\.position) == places,
      "A record is read with another position than it was stored with.")
    let complete = try await two.isComplete(log, since: start)
    findings.expect(complete, "A log that dropped nothing is reported as incomplete.")
    // From different positions, a few records at a time.
    for index in [0, 50, places.count - 2] {
      let some = try await two.read(log, after: places[index], limit: 3)
      findings.expect(
        !some.isEmpty && some.count <= 3
          && some.map(\.position) == Array(places[(index + 1)...].prefix(some.count)),
        "A read after a position returns other records.")
    }
    // A read that waits for the next record.
    async let waiting = read(two, log, after: end, count: 1)
    let last = try await one.append([1, 2, 3], to: log, id: .random(in: 0 ... .max))
    let record = try await waiting[0]
    findings.expect(
      record.bytes == [1, 2, 3] && record.position == last,
      "A read that waits returns another record.")
    // A record that is too large, and then a small one.
    let large = [UInt8](repeating: 0, count: one.recordLimit + 1)
    do {
      _ = try await one.append(large, to: log, id: .random(in: 0 ... .max))
      findings.expect(false, "A record above the limit is taken.")
    } catch CarrierError.tooLarge {} catch {
      findings.expect(false, "A record above the limit throws \(error).")
    }
    _ = try await one.append([4], to: log, id: .random(in: 0 ... .max))
    let next = try await read(two, log, after: last, count: 1)
    findings.expect(next.map(\.bytes) == [[4]], "A record that is too large is stored.")
    // A record that is sent again, as after a lost acknowledgement, is stored once or twice, in a row.
    for _ in 0..<2 { _ = try await one.append([5], to: log, id: 5) }
    _ = try await one.append([6], to: log, id: .random(in: 0 ... .max))
    var behind: [[UInt8]] = []
    var place = next[0].position
    while behind.last != [6] {
      let records = try await two.read(log, after: place, limit: 32)
      behind += records.map(\.bytes)
      place = records.last?.position ?? place
    }
    findings.expect(
      [[[5], [6]], [[5], [5], [6]]].contains(behind), "After a record was sent again: \(behind)")
    // A position in a log that no longer exists.
    let wrong = Position(epoch: place.epoch &+ 1, number: place.number, part: place.part)
    do {
      _ = try await two.read(log, after: wrong, limit: 32)
      findings.expect(false, "A position of another epoch is accepted.")
    } catch CarrierError.beganAnew(let beginning) {
      let first = try await read(two, log, after: beginning, count: 1)
      findings.expect(
        first.map(\.bytes) == [bytes[0]], "A log that began again is not read from its beginning.")
    }
    let final = try await two.end(of: log)
    let cancelled = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await two.read(log, after: final, limit: 1)
    }
    cancelled.cancel()
    do {
      _ = try await cancelled.value
      findings.expect(false, "A read of a cancelled task returns.")
    } catch is CancellationError {} catch {
      findings.expect(false, "A read of a cancelled task throws \(error).")
    }
  }

  private func read(
    _ carrier: any Carrier, _ log: Log, after position: Position, count: Int
  ) async throws -> [Record] {
    var records: [Record] = []
    while records.count < count {
      records += try await carrier.read(
        log, after: records.last?.position ?? position, limit: min(32, count - records.count))
    }
    return records
  }

  private func checkNames(
    _ one: any Carrier, _ two: any Carrier, _ findings: inout Findings
  ) async throws {
    let names = [
      "a", "A", "a.b", "a..b", ".a", "a.", "a b", "a*", "*", ">", "a.>", "{a}", "{", "a\nb",
      "a\r\n",
      "=2E", ".", "ä", "🐟", "a:b", "latest:a", String(repeating: "x", count: 200),
    ]
    for name in names {
      _ = try await one.append(Array(name.utf8), to: log(name), id: .random(in: 0 ... .max))
    }
    for name in names {
      let start = try await two.end(of: log(name))
      let log = log(name)
      _ = try await one.append(Array("after".utf8), to: log, id: .random(in: 0 ... .max))
      let beginning = Position(epoch: start.epoch, number: 0)
      let records = try await read(two, log, after: beginning, count: 2)
      findings.expect(
        records.map(\.bytes) == [Array(name.utf8), Array("after".utf8)],
        "The topic \(name.debugDescription) shares a log with another topic.")
      one.release(log)
      two.release(log)
    }
  }

  private func checkLatest(
    _ one: any Carrier, _ two: any Carrier, _ findings: inout Findings
  ) async throws {
    let log = log("latest", keepsLatest: true)
    var places: [Position] = []
    for number in 0..<200 {
      places.append(
        try await one.append(Array("\(number)".utf8), to: log, id: .random(in: 0 ... .max)))
    }
    let beginning = Position(epoch: places[0].epoch, number: 0)
    let end = try await two.end(of: log)
    findings.expect(end == places[199], "The last record of a topic is not kept.")
    let last = try await two.read(log, after: places[150], limit: 1)
    findings.expect(
      last.first.map { $0.position >= places[151] } ?? false, "It keeps too few records.")
    let first = try await two.read(log, after: beginning, limit: 1)
    findings.expect(
      first.first.map { $0.position > places[50] } ?? false,
      "A topic that keeps its latest keeps too many records.")
  }

  private func checkRegistry(
    _ one: any Registry, _ two: any Registry, _ findings: inout Findings
  ) async throws {
    let expiry = Duration.seconds(2)
    var (all, wasKept) = try await one.register([1], as: "one", in: prefix, expiry: expiry)
    findings.expect(all == ["one": [1]] && !wasKept, "A stored value is missing.")
    (all, wasKept) = try await two.register([2, 3], as: "two", in: prefix, expiry: expiry)
    findings.expect(!wasKept, "A new value is reported as stored before.")
    findings.expect(all["two"] == [2, 3], "A second value is missing.")
    (_, wasKept) = try await one.register([4], as: "one", in: prefix, expiry: expiry)
    findings.expect(wasKept, "A stored value is reported as new.")
    (all, _) = try await one.register(nil, as: "two", in: prefix, expiry: expiry)
    findings.expect(all == ["one": [4]], "A removed value is returned: \(all)")
    // Wait until it expires.
    repeat {
      (all, _) = try await two.register([5], as: "two", in: prefix, expiry: expiry)
    } while all
      .count > 1
    findings.expect(all == ["two": [5]], "A value that was stored again has expired.")
    (_, wasKept) = try await one.register([6], as: "one", in: prefix, expiry: expiry)
    findings.expect(!wasKept, "An expired value is reported as stored before.")
  }

  private func checkClosing(
    _ one: any Carrier, _ two: any Carrier, _ findings: inout Findings
  ) async throws {
    let log = log("closing")
    let end = try await two.end(of: log)
    async let waiting = two.read(log, after: end, limit: 32)
    await two.close()
    do {
      // The read may have returned no records just before.
      if try await !waiting.isEmpty {
        findings.expect(false, "A read returned a record after the end of a log.")
      }
    } catch CarrierError.closed {} catch {
      findings.expect(false, "A read from a closed carrier throws \(error).")
    }
    for way in 0..<3 {
      do {
        switch way {
        case 0: _ = try await two.append([], to: log, id: .random(in: 0 ... .max))
        case 1: _ = try await two.read(log, after: end, limit: 1)
        default: _ = try await two.end(of: log)
        }
        findings.expect(false, "A closed carrier does something.")
      } catch CarrierError.closed {} catch {
        findings.expect(false, "A closed carrier throws \(error).")
      }
    }
    await two.close()
    await one.close()
  }

  /// Two carriers use the same identifier, as an attacker could that has guessed it. The second record is stored or refused.
  private func checkIdentifiers(_ findings: inout Findings) async throws {
    let (one, two) = (try make(), try make())
    try await reached(one)
    try await reached(two)
    let log = log("identifiers")
    let start = try await one.end(of: log)
    _ = try await two.append([1], to: log, id: 7)
    do { _ = try await one.append([2], to: log, id: 7) } catch CarrierError.refused {
      _ = try await one.append([2], to: log, id: .random(in: 0 ... .max))
    }
    _ = try await one.append([3], to: log, id: .random(in: 0 ... .max))
    var bytes: [[UInt8]] = []
    var place = start
    while bytes.last != [3] {
      let records = try await one.read(log, after: place, limit: 32)
      bytes += records.map(\.bytes)
      place = records.last?.position ?? place
    }
    findings.expect(
      bytes == [[1], [2], [3]], "Another carrier's identifier drops a record: \(bytes)")
    await one.close()
    await two.close()
  }

  /// More bytes than one answer should have.
  private func checkLargeRecords(_ findings: inout Findings) async throws {
    let (one, two) = (try make(), try make())
    try await reached(one)
    try await reached(two)
    let log = log("large")
    let start = try await one.end(of: log)
    for number in 0..<40 {
      let record = [UInt8](repeating: UInt8(number), count: 64 << 10)
      _ = try await one.append(record, to: log, id: .random(in: 0 ... .max))
    }
    var records: [Record] = []
    while records.count < 40 {
      let more = try await two.read(log, after: records.last?.position ?? start, limit: 32)
      let size = more.reduce(0) { $0 + $1.bytes.count }
      findings.expect(size <= 1 << 20, "One read returns \(size) bytes.")
      records += more
    }
    findings.expect(
      records.map(\.bytes[0]) == (0..<40).map { UInt8($0) }, "Large records are read out of order.")
    await one.close()
    await two.close()
  }

  /// Three processes post to a topic that keeps its latest message, at the same time.
  private func checkLatestUnderLoad(_ findings: inout Findings) async throws {
    // Together fewer than the 64 records that a log of latest values keeps, so that none may be dropped, however slow a
    // reader is.
    let count = 20
    let sites = try (0..<3).map { Site(try make(), "shop \($0)", prefix: prefix + "-shops") }
    for site in sites { await site.start() }
    for number in 1...count {
      for site in sites { site.post(CollectionOfOne(number), to: .last) }
      for site in sites {
        while site.carriage.condition.sent < UInt64(number) { await Task.yield() }
      }
    }
    try await checkAgreement(sites, prefix + "-shops", sent: count, &findings)
    for site in sites {
      for other in sites where other.name != site.name {
        let heard = site.seen.notes(of: other.name, in: "last")
        findings.expect(
          heard == Array(1...count),
          "\(site.name) has not heard each latest value of \(other.name) once, in order: \(heard)")
      }
      findings.expect(
        site.seen.heard["last"]?.last == site.center.latest(of: .last),
        "\(site.name) has heard another value last than the latest one.")
      await site.stop()
    }
  }

  /// What a program may do in any order: it carries a topic twice, and closes the carriage while it runs.
  private func checkLife(_ findings: inout Findings) async throws {
    let sites = [
      Site(try make(), "point", prefix: prefix + ".a"),
      Site(try make(), "line", prefix: prefix + "_a"),
    ]
    for site in sites {
      await site.start()
      site.carriage.carry(.note, as: "note")
      await site.until { seen in
        seen.reports.contains { if case .refused("note", _) = $0 { true } else { false } }
      }
    }
    // Prefixes that differ in a point share nothing.
    for site in sites {
      site.post(1...3)
      site.post(1...1, to: .last)
      // The handlers of the site have a home of their own, and may hear its messages later than the engine has them.
      await site.until { $0.state?.sent == 4 && $0.heard["note", default: []].count >= 3 }
    }
    for site in sites {
      findings.expect(
        Set((site.seen.heard["note"] ?? []).map(\.sender)) == [site.name],
        "Two prefixes share a log.")
      await site.close()
    }
  }

  /// Two processes sign their records, and an attacker without the key writes what it has read.
  private func checkKeys(_ findings: inout Findings) async throws {
    let (prefix, key) = (prefix + "-keys", SymmetricKey(size: .bits256))
    let sites = try ["one", "two"].map { Site(try make(), $0, prefix: prefix, keys: [key]) }
    for site in sites { await site.start() }
    let attacker = try make()
    try await reached(attacker)
    let logs = ["note", "other"].map { Log(prefix: prefix, type: $0, keepsLatest: false) }
    let start = try await attacker.end(of: logs[0])
    for number in 1...40 {
      sites[0].post(number...number)
      await sites[1].until { $0.notes(of: "one").last == number }
    }
    let first = Position(epoch: start.epoch, number: 0)
    let real = try await read(attacker, logs[0], after: first, count: 1)[0].bytes
    var changed = real
    changed[real.count / 2] &+= 1
    // The first record again is a repeated one, however long ago it came.
    for (record, log) in [(real, logs[0]), (changed, logs[0]), (real, logs[1])] {
      _ = try await attacker.append(record, to: log, id: .random(in: 0 ... .max))
    }
    for number in 41...60 { sites[0].post(number...number) }
    sites[0].post(1...1, to: .other)
    for topic in ["note", "other"] {
      let skipped = CarriageReport.skipped(
        type: topic, reason: "A record with a wrong signature.", count: 1)
      await sites[1].until { $0.reports.contains(skipped) }
    }
    let seen = await sites[1].until {
      $0.notes(of: "one").last == 60 && !$0.notes(of: "one", in: "other").isEmpty
    }
    findings.expect(
      seen.notes(of: "one") == Array(1...60) && seen.notes(of: "one", in: "other") == [1],
      "A record without a valid signature was delivered, or an honest one was not.")
    for site in sites {
      await site.until { seen in
        seen.state?.waitingMessages == 0
          && seen.reports.count { if case .skipped = $0 { true } else { false } } >= 2
      }
      let reports = site.seen.reports.filter { if case .skipped = $0 { true } else { false } }
      findings.expect(reports.count == 2 && site.seen.missing == 0, "False reports: \(reports)")
      await site.stop()
    }
    await attacker.close()
  }

  /// Three processes whose connections fail before, during and after their operations.
  private func checkCarriages(_ findings: inout Findings) async throws {
    let count = 200
    let carriers = try (0..<3).map { FaultyCarrier(try make(), seed: UInt64($0) &+ 7) }
    let sites = carriers.enumerated().map { Site($1, "site \($0)", prefix: prefix) }
    for site in sites { await site.start() }
    await withTaskGroup { group in
      for site in sites {
        group.addTask {
          for number in 1...count {
            site.post(CollectionOfOne(number))
            if number % 10 == 0 { site.post(CollectionOfOne(number), to: .last) }
            if number % 7 == 0 { await Task.yield() }
          }
        }
      }
    }
    for carrier in carriers { carrier.calm() }
    for site in sites {
      let seen = await site.until { seen in
        sites.allSatisfy { seen.notes(of: $0.name).count >= count }
      }
      for other in sites where seen.notes(of: other.name) != Array(1...count) {
        findings.expect(
          false, "\(site.name) has not heard all of \(other.name), each once, in order.")
      }
      findings.expect(
        seen.missing == 0, "\(site.name) received reports of \(seen.missing) missing messages.")
    }
    try await checkAgreement(sites, prefix, sent: count + count / 10, &findings)
    for site in sites { await site.stop() }
  }

  /// All processes have the same latest value after all have read the whole log.
  private func checkAgreement(
    _ sites: [Site], _ prefix: String, sent: Int, _ findings: inout Findings
  ) async throws {
    let carrier = try make()
    try await reached(carrier)
    for site in sites { await site.until { $0.state?.sent == UInt64(sent) } }
    let log = Log(prefix: prefix, type: "last", keepsLatest: true)
    let end = try await carrier.end(of: log)
    var place = Position(epoch: end.epoch, number: 0)
    while place < end {
      place = try await carrier.read(log, after: place, limit: 32).last?.position ?? place
    }
    for site in sites {
      // No report shows that a process has read its own record.
      while site.carriage.position(of: "last").map({ $0 < place }) ?? true {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    let values = Set(sites.map { $0.center.latest(of: .last) })
    findings.expect(values.count == 1 && values.first != .some(nil), "Latest values: \(values)")
    await carrier.close()
  }

  // MARK: With an engine that ends

  /// Checks that carriers connect again, and lose nothing that the engine keeps.
  ///
  /// - Parameter restart: Stops the engine, and starts it again at its address with the data that it has stored.
  public func check(restart: () async throws -> Void) async throws -> [String] {
    var findings = Findings()
    let (one, two) = (
      Site(try make(), "one", prefix: prefix), Site(try make(), "two", prefix: prefix)
    )
    await one.start()
    await two.start()
    one.post(1...100)
    await two.until { $0.notes(of: "one").count >= 100 }
    try await restart()
    one.post(101...200)
    two.post(1...100)
    for site in [one, two] {
      let seen = await site.until {
        $0.notes(of: "one").count >= 200 && $0.notes(of: "two").count >= 100
      }
      findings.expect(
        !seen.reports.contains { if case .gap = $0 { true } else { false } },
        "\(site.name) received a report of a gap after a restart.")
      findings.expect(
        seen.notes(of: "one") == Array(1...200) && seen.notes(of: "two") == Array(1...100),
        "\(site.name) has not heard all, each once, in order, after a restart.")
    }
    await one.stop()
    await two.stop()
    return findings.broken
  }

  /// Checks that an engine that has lost its last records, as after a failover or a restored copy, loses nothing else.
  ///
  /// - Parameters:
  ///   - save: Copies all data of the engine.
  ///   - restore: Takes the engine back to the copy, without changing its clock.
  public func check(
    save: () async throws -> Void, restore: () async throws -> Void
  ) async throws -> [String] {
    var findings = Findings()
    let (one, two) = (
      Site(try make(), "one", prefix: prefix), Site(try make(), "two", prefix: prefix)
    )
    for site in [one, two] { await site.start() }
    // Enough records that none of the first ones is remembered by its contents.
    for number in 1...40 {
      one.post(number...number)
      await two.until { $0.notes(of: "one").last == number }
    }
    one.post(1...1, to: .last)
    await two.until { $0.notes(of: "one", in: "last") == [1] }
    for site in [one, two] { await site.until { $0.state?.waitingMessages == 0 } }
    try await save()
    for number in 41...60 {
      one.post(number...number)
      await two.until { $0.notes(of: "one").last == number }
    }
    one.post(2...2, to: .last)
    await two.until { $0.notes(of: "one", in: "last") == [1, 2] }
    for site in [one, two] { await site.until { $0.state?.waitingMessages == 0 } }
    try await restore()
    // Write more records than were lost, so that they take the positions of the lost ones if the engine counts
    // positions.
    for number in 61...100 { one.post(number...number) }
    let seen = await two.until { $0.notes(of: "one").last == 100 }
    findings.expect(
      seen.notes(of: "one") == Array(1...100), "After a restored log: \(seen.notes(of: "one"))")
    findings.expect(
      seen.missing == 0, "After a restored log, \(seen.missing) are reported as missing.")
    // The value that the log had lost is in it again.
    let late = Site(try make(), "late", prefix: prefix)
    await late.start()
    await late.until { $0.notes(of: "one", in: "last").last == 2 }
    for site in [one, two] {
      findings.expect(site.center.latest(of: .last)?.number == 2, "The latest value differs.")
    }
    for site in [one, two, late] { await site.stop() }
    return findings.broken
  }

  /// Checks that a log that was emptied is reported, and that messages are carried afterwards.
  ///
  /// - Parameter empty: Deletes all data of the engine.
  public func check(empty: () async throws -> Void) async throws -> [String] {
    var findings = Findings()
    let keys = [SymmetricKey(size: .bits256)]
    let (one, two) = (
      Site(try make(), "one", prefix: prefix, keys: keys),
      Site(try make(), "two", prefix: prefix, keys: keys)
    )
    await one.start()
    await two.start()
    one.post(1...10)
    one.post(1...3, to: .last)
    await two.until { $0.notes(of: "one").count >= 10 && $0.notes(of: "one", in: "last").count > 0 }
    let (attacker, log) = (try make(), log("note"))
    try await reached(attacker)
    let old = Position(epoch: try await attacker.end(of: log).epoch, number: 0)
    let record = try await read(attacker, log, after: old, count: 1)[0]
    try await empty()
    one.post(11...20)
    let seen = await two.until {
      $0.notes(of: "one").count >= 20 && $0.reports.contains(.beganAnew(type: "note"))
    }
    findings.expect(
      seen.notes(of: "one") == Array(1...20), "After a log began again: \(seen.notes(of: "one"))")
    // The log contains the latest value again.
    two.post(21...21, to: .other)
    one.post(4...4, to: .last)
    for site in [one, two] {
      await site.until {
        $0.reports.contains(.beganAnew(type: "last")) && $0.notes(of: "one", in: "last").contains(4)
      }
      // The values that this process posts again have left.
      await site.until { $0.state?.waitingMessages == 0 }
    }
    one.post(5...5, to: .last)
    await two.until { $0.notes(of: "one", in: "last").last == 5 }
    let late = Site(try make(), "late", prefix: prefix, keys: keys)
    await late.start()
    await late.until { $0.notes(of: "one", in: "last").last == 5 }
    // A signed record of the log that is gone. A process that has just begun does not know its sender.
    try await reached(attacker)
    _ = try await attacker.append(record.bytes, to: log, id: .random(in: 0 ... .max))
    await late.until { seen in
      let reason = "A record that was signed for an earlier log."
      return seen.reports.contains(.skipped(type: "note", reason: reason, count: 1))
    }
    one.post(22...22)
    for site in [two, late] { await site.until { $0.notes(of: "one").last == 22 } }
    findings.expect(
      late.seen.notes(of: "one") == [22] && two.seen.notes(of: "one") == Array(1...20) + [22],
      "A signed record of an earlier log was delivered.")
    for site in [one, two, late] { await site.stop() }
    await attacker.close()
    return findings.broken
  }
}
