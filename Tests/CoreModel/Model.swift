import Multicast

/// What the delegate did and the model did not expect.
public struct Mismatch: Error, CustomStringConvertible {
  /// A description of the difference.
  public let description: String
}

protocol ModelListener {
  func ping(_ number: Int)
}

/// Performs random operations on a delegate and on a model of it that is too simple to be wrong, and
/// compares the two after each.
///
/// The operations are adding, adding again, removing, releasing, looking up, and notifying in each of the
/// three synchronous ways. The clients perform further operations during their calls, including notifies.
public final class Model<Generator: RandomNumberGenerator> {
  /// A client that reports its calls to the model.
  final class Listener: ModelListener {
    let name: Int
    unowned let model: Model
    init(_ name: Int, _ model: Model) {
      self.name = name
      self.model = model
    }
    func ping(_ number: Int) { model.listenerWasCalled(name, number) }
  }

  /// One registration of a client. A client that is removed and added again has a new one.
  private final class Registration {
    let name: Int
    init(_ name: Int) { self.name = name }
  }

  /// A notify in progress: the registrations that it found, and the number of events for each client.
  private struct Pass {
    let snapshot: [Registration]
    let events: Int
    var next = 0
    var event = 0
    var called = 0
  }

  private let delegate = MulticastDelegate<any ModelListener>(
    reentrancy: .allow(depth: 3), onRecursion: { _ in })
  private var generator: Generator
  private let maximumOfClients: Int

  /// The clients that the model owns, by name.
  private var owned: [Int: Listener] = [:]
  private var registrations: [Registration] = []
  private var passes: [Pass] = []

  /// The number of calls that each client is in. A notify retains the client until they return.
  private var callsUnderWay: [Int: Int] = [:]
  private var nextName = 0
  private var budget: Int
  private var mismatch: Mismatch?

  /// Creates a delegate without clients, and its model.
  ///
  /// - Parameters:
  ///   - operations: How many operations to perform, including those within calls.
  ///   - maximumOfClients: From this number on, the model releases clients instead of creating them.
  ///   - generator: Decides on the operations.
  public init(operations: Int, maximumOfClients: Int, generator: Generator) {
    budget = operations
    self.maximumOfClients = maximumOfClients
    self.generator = generator
  }

  /// Performs the operations, up to the first mismatch.
  public func run() throws(Mismatch) {
    while budget > 0 {
      perform()
      if let mismatch { throw mismatch }
    }
  }
}

// MARK: - Operations

extension Model {
  private func perform() {
    budget -= 1
    switch Int.random(in: 0..<16, using: &generator) {
    case 0...3: addNew()
    case 4: addOwned()
    case 5...6: removeOwned()
    case 7...8: releaseOwned()
    case 9: look()
    case 10 where Int.random(in: 0..<20, using: &generator) == 0:
      delegate.removeAll()
      registrations.removeAll()
    case 10: break
    case 11: churn()
    default: notify()
    }
    expect(delegate.clients.map { ($0 as? Listener)?.name ?? -2 }, alive, "the clients")
  }

  private func addNew() {
    guard owned.count < maximumOfClients else { return releaseOwned() }
    let listener = Listener(nextName, self)
    nextName += 1
    owned[listener.name] = listener
    expect(delegate.add(listener), true, "adding the new client \(listener.name)")
    registrations.append(Registration(listener.name))
  }

  private func addOwned() {
    guard let listener = randomOwned() else { return }
    let isNew = !isRegistered(listener.name)
    expect(delegate.add(listener), isNew, "adding client \(listener.name) again")
    if isNew { registrations.append(Registration(listener.name)) }
  }

  private func removeOwned() {
    guard let listener = randomOwned() else { return }
    let wasRegistered = isRegistered(listener.name)
    expect(delegate.remove(listener), wasRegistered, "removing client \(listener.name)")
    registrations.removeAll { $0.name == listener.name }
  }

  private func releaseOwned() {
    if let listener = randomOwned() { owned[listener.name] = nil }
  }

  /// Adds clients that are deallocated immediately, so that the list reclaims its storage, and replaces it during notifies.
  private func churn() {
    for _ in 0..<Int.random(in: 1...60, using: &generator) {
      expect(
        delegate.add(Listener(-1, self)), true, "adding a client that is deallocated immediately")
    }
  }

  private func look() {
    guard let listener = randomOwned() else { return }
    let name = listener.name
    expect(delegate.contains(listener), isRegistered(name), "contains of client \(name)")
    expect(delegate.count, alive.count, "count")
    expect(delegate.isEmpty, alive.isEmpty, "isEmpty")
  }

  private func notify() {
    // The policy refuses deeper nesting of these three call sites.
    guard passes.count < 4 else { return }
    let way = Int.random(in: 0..<3, using: &generator)
    let events = way == 0 ? Int.random(in: 1...3, using: &generator) : 1
    passes.append(Pass(snapshot: registrations, events: events))
    let called =
      switch way {
      case 0: delegate.notify(forEach: 0..<events) { $0.ping($1) }
      case 1: delegate.map { $0.ping(0) }.count
      default: delegate.notify { $0.ping(0) }
      }
    // After a mismatch, the passes are no longer valid.
    guard mismatch == nil, var pass = passes.popLast() else { return }
    skip(in: &pass)
    if pass.next < pass.snapshot.count {
      fail("client \(pass.snapshot[pass.next].name) was not called")
    }
    expect(called, pass.called, "the number of clients called")
  }
}

// MARK: - Calls

extension Model {
  fileprivate func listenerWasCalled(_ name: Int, _ event: Int) {
    guard mismatch == nil else { return }
    guard var pass = passes.popLast() else {
      return fail("client \(name) was called outside a notify")
    }
    skip(in: &pass)
    guard pass.next < pass.snapshot.count else { return fail("client \(name) was called too late") }
    let expected = pass.snapshot[pass.next].name
    expect(name, expected, "the client called")
    expect(event, pass.event, "the event for client \(name)")
    if pass.event == 0 { pass.called += 1 }
    pass.event += 1
    let index = pass.next
    passes.append(pass)
    callsUnderWay[name, default: 0] += 1
    for _ in 0..<Int.random(in: 0...2, using: &generator) where budget > 0 && mismatch == nil {
      perform()
    }
    callsUnderWay[name, default: 0] -= 1
    // After the client's last event, or its removal, the next client is called.
    let depth = passes.count - 1
    if passes[depth].event == passes[depth].events {
      passes[depth].next = index + 1
      passes[depth].event = 0
    }
  }

  /// Skips the registrations of removed and deallocated clients.
  private func skip(in pass: inout Pass) {
    while pass.next < pass.snapshot.count {
      let registration = pass.snapshot[pass.next]
      // The notify retains a client between its events.
      let isAlive = isAlive(registration.name) || pass.event > 0
      if isAlive && registrations.contains(where: { $0 === registration }) { return }
      pass.next += 1
      pass.event = 0
    }
  }
}

// MARK: - The model

extension Model {
  private func isAlive(_ name: Int) -> Bool {
    owned[name] != nil || callsUnderWay[name, default: 0] > 0
      || passes.contains { pass in
        pass.event > 0 && pass.next < pass.snapshot.count && pass.snapshot[pass.next].name == name
      }
  }

  private func isRegistered(_ name: Int) -> Bool {
    registrations.contains { $0.name == name }
  }

  /// The names of the clients that are registered and alive.
  private var alive: [Int] { registrations.map(\.name).filter(isAlive) }

  private func randomOwned() -> Listener? {
    // Sorted, so that a seed repeats the same run.
    owned.keys.sorted().randomElement(using: &generator).flatMap { owned[$0] }
  }

  private func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ what: String) {
    if value != expected { fail("\(what): \(value) instead of \(expected)") }
  }

  private func fail(_ description: String) {
    if mismatch == nil { mismatch = Mismatch(description: description) }
  }
}

/// The bytes that decide a run of the model.
public struct Input: Hashable, Sendable {
  /// The first byte is the maximum number of clients. Each operation needs about three further bytes.
  public var bytes: [UInt8]

  /// Creates an input of these bytes.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Runs the model. Returns its first difference from the delegate, or nil if there is none.
  public func mismatch() -> Mismatch? {
    guard let first = bytes.first else { return nil }
    let model = Model(
      operations: bytes.count / 3, maximumOfClients: Int(first) + 1,
      generator: ByteGenerator(bytes.dropFirst()))
    do throws(Mismatch) {
      try model.run()
      return nil
    } catch {
      return error
    }
  }

  /// Returns a shorter input that fails, too. Removes each part without which the input still fails.
  ///
  /// - Parameter fails: Whether an input fails. A test passes a condition that does not need a faulty delegate.
  public func reduced(where fails: (Input) -> Bool = { $0.mismatch() != nil }) -> Input {
    var input = self
    var length = bytes.count / 2
    while length > 0 {
      var start = 0
      var isShorter = false
      while start < input.bytes.count {
        var shorter = input
        shorter.bytes.removeSubrange(start..<min(start + length, input.bytes.count))
        if fails(shorter) {
          input = shorter
          isShorter = true
        } else {
          start += length
        }
      }
      // After a part is removed, an earlier part may have become unnecessary, too.
      if !isShorter { length /= 2 }
    }
    return input
  }
}

// MARK: - As text

extension Input: CustomStringConvertible {
  /// The bytes as hexadecimal digits.
  public var description: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  /// Creates an input from its ``description``. Returns nil for any other text.
  public init?(_ text: String) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    bytes = stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(digits[index] << 4 | digits[index + 1])
    }
  }
}
