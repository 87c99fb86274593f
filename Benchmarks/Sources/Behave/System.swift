import Dispatch
import Synchronization

/// What listeners can hear, of two kinds.
enum Kind: Int, CaseIterable, Sendable {
  case first, second
}

/// Where a listener is to be called.
enum Place: Sendable {
  case here
  case queue(DispatchQueue)
  case mainActor
}

/// A way to tell many listeners a number, used as its documentation shows it: a column of the table.
protocol System: Sendable {
  /// Whether listeners that are called here have been called when ``send(_:_:line:)`` returns.
  static var isSynchronous: Bool { get }

  /// - Parameter keepsLatest: Whether late listeners are to begin with the last number, if the system has
  ///   a way to do so.
  init(keepsLatest: Bool)

  /// Has a listener called. Returns false if the system has no such place.
  func add(_ listener: Listener, at place: Place) -> Bool
  func remove(_ listener: Listener)

  /// - Parameter line: Where it was called. Multicast knows loops by their call sites.
  func send(_ number: Int, _ kind: Kind, line: Int)

  /// Calls listeners that may throw. Returns false if that cannot be written.
  func sendThrowing(_ number: Int) throws -> Bool

  /// Has a value called, not an object.
  func add(_ value: ValueListener)
}

extension System {
  static var isSynchronous: Bool { true }
  func send(_ number: Int, _ kind: Kind = .first, at line: Int = #line) {
    send(number, kind, line: line)
  }
  func sendThrowing(_ number: Int) throws -> Bool { false }
}

/// Whether this is the main actor's turn. On Linux, that is not always the main thread.
enum MainQueue {
  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}

/// What listeners have heard, in the order in which they heard it.
final class Journal: Sendable {
  private let lines = Mutex<[String]>([])
  /// How often anything was called, for a listener that lives or not.
  let calls = Atomic<Int>(0)

  func write(_ line: String) { lines.withLock { $0.append(line) } }
  var text: String { lines.withLock { $0.joined(separator: " ") } }
  var count: Int { lines.withLock { $0.count } }
}

/// A listener that writes down what it hears, and may do something then.
final class Listener: Ear, Sendable {
  struct Failure: Error {}
  typealias Action = @Sendable (_ number: Int) -> Void

  let name: String
  let journal: Journal
  private let action = Mutex<Action?>(nil)

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func onNumber(_ action: @escaping Action) { self.action.withLock { $0 = action } }

  func hear(_ number: Int, _ kind: Kind) {
    journal.write("\(name)\(number)")
    action.withLock { $0 }?(number)
  }

  func tryToHear(_ number: Int) throws {
    hear(number, .first)
    if name == "b" { throw Failure() }
  }
}

/// A listener that is a value.
struct ValueListener: Ear {
  let journal: Journal

  func hear(_ number: Int, _ kind: Kind) { journal.write("value\(number)") }
  func tryToHear(_ number: Int) throws {}
}

/// The listener protocol, for systems that have one.
protocol Ear {
  func hear(_ number: Int, _ kind: Kind)
  func tryToHear(_ number: Int) throws
}

/// The tokens of listeners, for systems that have to be told the end of one.
final class Tokens<Token: Sendable>: Sendable {
  private let tokens = Mutex<[ObjectIdentifier: [Token]]>([:])

  func keep(_ token: Token, for listener: AnyObject) {
    tokens.withLock { $0[ObjectIdentifier(listener), default: []].append(token) }
  }

  func take(for listener: AnyObject) -> [Token] {
    tokens.withLock { $0.removeValue(forKey: ObjectIdentifier(listener)) ?? [] }
  }
}
