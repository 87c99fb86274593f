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
struct System: Sendable {
  /// Whether listeners that are called here have been called when a number has been sent.
  var isSynchronous = true

  /// Has a listener called. Returns false if the system has no such place.
  let add: @Sendable (Listener, Place) -> Bool

  /// Has a value called, not an object.
  let addValue: @Sendable (ValueListener) -> Void

  let remove: @Sendable (Listener) -> Void

  /// Sends from a line of the program, by which Multicast knows loops.
  let deliver: @Sendable (_ number: Int, Kind, _ line: Int) -> Void

  /// Calls listeners that may throw; nil if that cannot be written.
  var sendThrowing: (@Sendable (Int) throws -> Void)?

  func send(_ number: Int, _ kind: Kind = .first, at line: Int = #line) {
    deliver(number, kind, line)
  }
}

extension System {
  /// A system that is given a closure for each listener and kind.
  ///
  /// - Parameter subscribe: Returns what ends the calls; nil if the system has no such place.
  init<Token>(
    isSynchronous: Bool = true, kinds: [Kind] = Kind.allCases,
    subscribe: @escaping @Sendable (Target, Kind, Place) -> Token?,
    cancel: @escaping @Sendable (Token) -> Void,
    deliver: @escaping @Sendable (Int, Kind, Int) -> Void
  ) {
    let tokens = Mutex<[ObjectIdentifier: [Kept<Token>]]>([:])
    @Sendable func keep(_ target: Target, _ kind: Kind, _ place: Place, for owner: AnyObject)
      -> Bool
    {
      guard let kept = subscribe(target, kind, place).map(Kept<Token>.init) else { return false }
      tokens.withLock { $0[ObjectIdentifier(owner), default: []].append(kept) }
      return true
    }
    self.init(
      isSynchronous: isSynchronous,
      add: { listener, place in
        kinds.allSatisfy { keep(Target(listener, listener.journal), $0, place, for: listener) }
      },
      addValue: { value in
        _ = keep(Target(nil, value.journal), .first, .here, for: value.journal)
      },
      remove: { listener in
        let ended = tokens.withLock { $0.removeValue(forKey: ObjectIdentifier(listener)) }
        for kept in ended ?? [] { cancel(kept.token) }
      },
      deliver: deliver)
  }
}

private struct Kept<Token>: @unchecked Sendable {
  // Unchecked: a token is handed back to its system, which any thread may do, and nothing else.
  let token: Token
}

/// What such a closure calls: a listener, if it still lives, or a value.
struct Target: Sendable {
  /// In an object, as a variable that a closure captures weakly.
  private final class Reference: @unchecked Sendable {
    // Unchecked, because a weak reference is a variable. It is not changed.
    weak var listener: Listener?
  }

  private let reference = Reference()
  private let journal: Journal

  private let isValue: Bool

  init(_ listener: Listener?, _ journal: Journal) {
    (self.journal, isValue) = (journal, listener == nil)
    reference.listener = listener
  }

  func hear(_ number: Int, _ kind: Kind) {
    journal.calls.add(1, ordering: .relaxed)
    if isValue { ValueListener(journal: journal).hear(number, kind) }
    reference.listener?.hear(number, kind)
  }
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
