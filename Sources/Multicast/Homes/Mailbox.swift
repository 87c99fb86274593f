/// The letters of one home, in the order of their posts.
///
/// An office has one mailbox for each home. Whoever has claimed it calls the clients of the home, and takes batches of
/// letters. A mailbox does not refer to its office, which owns it.
///
/// Unchecked, because only the holder of the office's lock has the office's state, which each method takes that uses a
/// variable.
@usableFromInline
final class Mailbox: ClientHome, @unchecked Sendable {
  private struct Contents: ~Copyable {
    var letters = LetterQueue()

    /// The number of letters that were taken, until all of them are handled.
    var taken = 0

    /// Whether a thread has claimed the home.
    var isClaimed = false

    /// Whether a drain is scheduled.
    var isScheduled = false

    /// Whether the office counts this as busy.
    var isBusy: Bool { isClaimed || !letters.isEmpty }
  }

  let place: Place

  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) private var contents = Contents()

  init(_ place: Place) { self.place = place }

  override var isOpen: Bool { place.isHere == true }
}

// MARK: - With the office's lock held

extension Mailbox {
  func isIdle(_ office: inout PostOffice.State) -> Bool { unsafe !contents.isBusy }

  @inline(__always)
  func put(_ letter: consuming Letter, _ office: inout PostOffice.State) {
    if unsafe !contents.isBusy { office.busy += 1 }
    unsafe contents.letters.append(letter)
    #if DEBUG
      if unsafe contents.letters.count == Self.crowd { office.crowded = self }
    #endif
  }

  /// The number of waiting letters, and the nanoseconds since the first one was posted, if posts are traced.
  func waiting(_ office: inout PostOffice.State) -> (count: Int, time: UInt64?) {
    unsafe (contents.letters.count, contents.letters.first?.post.trace?.age)
  }

  /// The letter that has waited longest.
  func next(_ office: inout PostOffice.State) -> Letter? { unsafe contents.letters.first }

  /// Whether a letter can be handled here now.
  func isReady(_ office: inout PostOffice.State) -> Bool {
    unsafe !contents.isClaimed && !contents.letters.isEmpty
  }

  /// Like ``waiting(_:)``, without letters that only look for deallocated clients, and with all that are being handled.
  func backlog(_ office: inout PostOffice.State) -> (count: Int, time: UInt64?) {
    let posts = unsafe contents.letters.all.map(\.post).filter { !($0 is SearchForDead) }
    return unsafe (posts.count + contents.taken, posts.first?.trace?.age)
  }

  /// Notes that a drain is scheduled, if one is needed. Returns whether the caller must start it after unlocking.
  @inline(__always)
  func schedule(_ office: inout PostOffice.State) -> Bool {
    if unsafe contents.isClaimed || contents.isScheduled || contents.letters.isEmpty {
      return false
    }
    unsafe contents.isScheduled = true
    return true
  }

  /// Takes back that a drain is scheduled. The next letter asks for one again.
  func unschedule(_ office: inout PostOffice.State) { unsafe contents.isScheduled = false }

  /// Claims the home for this thread, which runs in it. Returns nil if a thread has claimed it, another one or
  /// this one further up its stack. Otherwise returns the number of waiting letters.
  @inline(__always)
  func claim(_ office: inout PostOffice.State) -> Int? {
    if unsafe contents.isClaimed { return nil }
    if unsafe !contents.isBusy { office.busy += 1 }
    unsafe contents.isClaimed = true
    return unsafe contents.letters.count
  }

  /// Takes up to so many letters, for who has claimed the home.
  func take(_ count: Int, into batch: inout LetterQueue, _ office: inout PostOffice.State) {
    unsafe contents.letters.move(count, to: &batch)
    unsafe contents.taken = batch.count
  }

  /// Takes letters for a drain. Ends its claim, and returns false, if there are none.
  func takeOrRelease(
    _ count: Int, into batch: inout LetterQueue, _ state: inout PostOffice.State
  ) -> Bool {
    take(count, into: &batch, &state)
    if !batch.isEmpty { return true }
    unsafe contents.letters.reuse(&batch)
    return release(&state)
  }

  /// Ends a claim. Returns whether the caller must start a drain after unlocking.
  @inline(__always)
  func release(_ office: inout PostOffice.State) -> Bool {
    unsafe (contents.isClaimed, contents.taken) = (false, 0)
    if unsafe !contents.letters.isEmpty { return schedule(&office) }
    if case .task(let client?, _) = place { office.removeLane(of: client) }
    office.busy -= 1
    return false
  }
}

extension Mailbox {
  /// The number of waiting letters that a debug build reports.
  private static var crowd: Int { 10_000 }

  /// Tells that nobody comes to the letters. Called with no lock held.
  func reportCrowd() {
    StandardError.print(
      """
      Multicast: \(Self.crowd) letters wait in a home that does not come to them: \(place). Its thread may be \
      blocked, its queue suspended, or nobody may run the main actor. See the letters in wiring.
      """)
  }
}

extension WeakBox {
  /// The mailbox of the client's home. Only mailboxes are given to boxes.
  var home: Mailbox? { mailbox.map { unsafe unsafeDowncast($0, to: Mailbox.self) } }
}

extension Roster {
  /// Passes the clients of each home, and their mailbox, to `body`, without retaining anything.
  @inline(__always)
  func forEachHome(_ body: (Group, Mailbox) -> Void) {
    unsafe groups.withUnsafeBufferPointer { groups in
      for place in groups.indices {
        unsafe Unmanaged.passUnretained(groups[place])._withUnsafeGuaranteedRef { group in
          let mailbox = unsafe Unmanaged.passUnretained(
            unsafeDowncast(group.mailbox.unsafelyUnwrapped, to: Mailbox.self))
          unsafe mailbox._withUnsafeGuaranteedRef { body(group, $0) }
        }
      }
    }
  }
}
