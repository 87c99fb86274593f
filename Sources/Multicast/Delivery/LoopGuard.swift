import MulticastPlatform

/// Decides whether a `notify` may begin inside the deliveries that have led to it, and reports it if not.
///
/// A loop is refused at its first recurrence: when a `notify` is made from a call site that is already delivering the same list. A
/// limit on the depth would call each client a hundred times before it reports the loop.
@usableFromInline
final class LoopGuard: Sendable {
  private let policy: ReentrancyPolicy
  private let onRecursion: (@Sendable (RecursiveNotify) -> Void)?
  private let tracing: Tracing?

  /// The loops that were printed because there is no `onRecursion`, by name and call site, so that each is printed once. Not by
  /// the address of the list, because a later topic may get the same one.
  private let printed = Locked<Set<String>>([])

  init(
    policy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?, tracing: Tracing?
  ) {
    if case .allow(let depth) = policy, depth < 0 {
      fatalError(
        "Multicast: ReentrancyPolicy.allow(depth: \(depth)) is negative; use 0 or more")
    }
    self.policy = policy
    self.onRecursion = onRecursion
    self.tracing = tracing
  }
}

// MARK: - Beginning

extension LoopGuard {
  /// Pushes the frame of a `notify` onto the thread's chain, and returns true. Remove it with ``DeliveryFrame/pop()``, on the same
  /// thread. Returns false if the `notify` would be a loop, which this reports, unless its list is empty.
  @usableFromInline
  func enter(
    _ frame: FramePointer, list: ClientList, _ way: DeliveryEvent.Way
  ) -> Bool {
    let chain = DeliveryChain()
    if !chain.isEmpty || multicast_awaits_anywhere() {
      guard mayBegin(way, list, unsafe frame.pointee.site, in: chain) else { return false }
    }
    unsafe chain.push(frame)
    return true
  }

  /// Returns a frame for the task's chain; nil if the `notify` was a loop, which this has reported.
  @usableFromInline
  func enterAwaited(list: ClientList, site: CallSite) -> AwaitedNotify? {
    mayBegin(.awaiting, list, site, in: DeliveryChain())
      ? AwaitedNotify(list: list, site: site) : nil
  }

  /// Returns whether a `notify` may begin. If not, reports it as a loop, or as a delivery that no listener hears.
  private func mayBegin(
    _ way: DeliveryEvent.Way, _ list: ClientList, _ site: CallSite, in chain: DeliveryChain
  ) -> Bool {
    if countAndAllow(list: list, site: site, in: chain) { return true }
    // An empty list has no listener that could notify again, so this is not a loop. It is refused nevertheless, because another
    // thread may register a listener before the list is walked over.
    if list.isEmpty {
      tracing?.reportUnheard(way, list, from: site)
      return false
    }
    // Innermost first. Awaited deliveries are outside the deliveries on the stack.
    var path = [site]
    forEachActive(in: chain) { _, site, _ in path.append(site) }
    reportLoop(RecursiveNotify(key: list.subject.description, path: path.reversed()), in: chain)
    tracing?.reportRefusal(way, list, from: site)
    return false
  }
}

// MARK: - The decision

extension LoopGuard {
  /// The largest number of deliveries of a list that are nested three deep or deeper under one outermost delivery.
  ///
  /// A loop through *k* call sites ends by itself, because each site is refused once it is active, but only after more than
  /// (*k* - 1)! calls.
  private static var limit: Int32 { 1_000 }

  /// Returns whether the policy allows a `notify`, and counts it under the deliveries that it is nested in.
  private func countAndAllow(list: ClientList, site: CallSite, in chain: DeliveryChain) -> Bool {
    let list = ObjectIdentifier(list)
    var deliveriesOfList = 0
    var sameSite = 0
    forEachActive(in: chain) { activeList, activeSite, _ in
      guard activeList == list else { return }
      deliveriesOfList += 1
      if activeSite == site { sameSite += 1 }
    }
    switch policy {
    case .refuseNesting: return deliveriesOfList == 0
    case .allow(let depth) where depth > 0: return sameSite <= depth
    case .refuseLoops, .allow:
      if sameSite > 0 || deliveriesOfList < 2 { return sameSite == 0 }
      // Count under each active delivery. The last one is the outermost.
      var count: Int32 = 0
      forEachActive(in: chain) { activeList, _, nested in
        guard activeList == list else { return }
        // No further than beyond the limit, because refused calls are counted, too.
        nested = min(nested + 1, Self.limit + 1)
        count = nested
      }
      return count <= Self.limit
    }
  }

  /// Calls `body` with the deliveries of this stack and task that have led to this call, innermost first, and what is counted
  /// under each.
  private func forEachActive(
    in chain: DeliveryChain,
    _ body: (_ list: ObjectIdentifier, _ site: CallSite, _ nested: inout Int32) -> Void
  ) {
    let isWholeStack = unsafe chain.forEachLeading { frame in
      unsafe body(frame.pointee.list, frame.pointee.site, &frame.pointee.nested)
    }
    if isWholeStack { AwaitedNotify.forEachOfTask { unsafe body($0.list, $0.site, &$0.nested) } }
  }

  /// Reports a post that one of its causes has set off too often.
  func reportPost(to list: ClientList, by cause: Cause) {
    reportLoop(
      RecursiveNotify(key: list.subject.description, path: cause.sites.reversed(), isPost: true),
      in: DeliveryChain())
  }

  private func reportLoop(_ report: RecursiveNotify, in chain: DeliveryChain) {
    guard let site = report.path.last else { return }
    let own = ObjectIdentifier(self)
    // If `onRecursion` itself causes a loop, print that. Otherwise the two would alternate forever.
    if let onRecursion, unsafe chain.first(where: { unsafe $0.pointee.list == own }) == nil {
      var frame = DeliveryFrame(list: own, site: site)
      unsafe withUnsafeMutablePointer(to: &frame) { frame in
        unsafe chain.push(frame)
        onRecursion(report)
        unsafe frame.pointee.pop()
      }
    } else if printed.withLock({ $0.insert("\(report.key), \(site)").inserted }) {
      StandardError.print("Multicast: \(report)")
    }
  }
}
