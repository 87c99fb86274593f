import Synchronization
import Systems

/// The listener protocol, for systems that have one.
protocol Ear {
  var journal: Journal { get }
  func hear(_ number: Int)
}

/// What listeners have heard, in the order in which they heard it.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])

  /// How often closures were called, for a listener that lives or not.
  let closureCalls = Atomic<Int>(0)

  func write(_ line: String) { lines.withLock { $0.append(line) } }
  var heard: [String] { lines.withLock { $0 } }
}

/// A listener that writes down what it hears, and may do something then.
final class Listener: Ear, Sendable {
  typealias Action = @Sendable (_ number: Int) -> Void

  let name: String
  let journal: Journal
  private let action = Mutex<Action?>(nil)

  init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }

  func onNumber(_ action: @escaping Action) { self.action.withLock { $0 = action } }

  func hear(_ number: Int) {
    journal.write("\(name)\(number)")
    action.withLock { $0 }?(number)
  }
}

/// A listener that is a value.
struct ValueListener: Ear {
  let journal: Journal
  func hear(_ number: Int) { journal.write("value\(number)") }
}

/// A system and its listeners, for one round.
final class Stage: Sendable {
  let system: System
  let journal = Journal()
  private let held = Mutex<[String: Listener]>([:])

  init(_ system: System) { self.system = system }

  /// Adds listeners, and holds them. Returns false if the system has no such place.
  @discardableResult
  func add(_ names: String..., at place: Place = .here) async -> Bool {
    for name in names {
      let listener = Listener(name, journal)
      held.withLock { $0[name] = listener }
      guard system.add(listener, place) else { return false }
    }
    await settle()
    return true
  }

  /// Has a listener do something when it hears a number.
  func when(_ name: String, _ action: @escaping Listener.Action) {
    held.withLock { $0[name] }?.onNumber(action)
  }

  func remove(_ names: String...) {
    for name in names { held.withLock { $0[name] }.map(system.remove) }
  }

  /// Stops holding a listener.
  func release(_ name: String) { _ = held.withLock { $0.removeValue(forKey: name) } }

  /// Sends a number, and returns what was heard, once nothing more is heard.
  @discardableResult
  func send(_ number: Int) async -> [String] {
    system.send(number)
    await settle()
    return journal.heard
  }

  /// Waits until nothing more is heard.
  func settle() async {
    // Quiet for three looks, since a loaded machine pauses, too.
    var (last, quiet) = (journal.heard.count, 0)
    while quiet < 3 {
      try? await Task.sleep(for: .milliseconds(40))
      let count = journal.heard.count
      (last, quiet) = (count, count == last ? quiet + 1 : 0)
    }
  }
}
