import Foundation
import Multicast

/// What happens in a program, in the order in which it happens: the place in the log is the clock.
final class PostLog: Sendable {
  enum Kind {
    case postBegins, postReturns
    case callBegins, callEnds
    case registrationBegins, registrationEnds
    case removalBegins, removalEnds
  }

  struct Entry: Sendable {
    let kind: Kind
    let thread: UInt
    var message = -1
    var receiver = -1

    /// How often the receiver's handler had been replaced when this one was registered.
    var version = 0

    /// Whether a call was made in a lane, so that its thread says nothing.
    var isAwaited = false
  }

  /// A post.
  struct Posted: Sendable {
    let list: Int

    /// The message in whose call this one was posted.
    let cause: Int?

    /// The home in which it was posted.
    let home: Int?

    /// Whether the poster waits until everybody has had it.
    let waits: Bool

    /// What the post returned.
    var count = -1
  }

  private struct State {
    var entries: [Entry] = []
    var posted: [Posted] = []
  }

  private let state = Locked(State())

  /// Notes that a post begins. Returns the message's number.
  func begin(_ post: Posted) -> Int {
    let thread = Self.thread
    return state.withLock { state in
      let number = state.posted.count
      state.posted.append(post)
      state.entries.append(Entry(kind: .postBegins, thread: thread, message: number))
      return number
    }
  }

  func end(_ message: Int, count: Int) {
    let thread = Self.thread
    state.withLock { state in
      state.posted[message].count = count
      state.entries.append(Entry(kind: .postReturns, thread: thread, message: message))
    }
  }

  func note(
    _ kind: Kind, message: Int = -1, receiver: Int, version: Int = 0, isAwaited: Bool = false
  ) {
    let entry = Entry(
      kind: kind, thread: Self.thread, message: message, receiver: receiver, version: version,
      isAwaited: isAwaited)
    state.withLock { $0.entries.append(entry) }
  }

  var count: Int { state.withLock { $0.posted.count } }

  var all: ([Entry], [Posted]) { state.withLock { ($0.entries, $0.posted) } }

  private static var thread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
