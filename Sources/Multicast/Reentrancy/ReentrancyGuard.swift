/// Decides whether a `notify` may begin inside the active ones, and reports it if not.
@usableFromInline
final class ReentrancyGuard: Sendable {
  /// A loop that the default handler has printed, so that it prints each loop once.
  ///
  /// The name of the protocol or topic identifies a loop. The address of a list does not: a later topic may
  /// have it.
  private struct Loop: Hashable {
    let key: String
    let site: CallSite
  }

  private let policy: ReentrancyPolicy
  private let onRecursion: (@Sendable (RecursiveNotify) -> Void)?
  private let printed = Locked<Set<Loop>>([])

  init(policy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?) {
    if case .allow(let depth) = policy, depth < 0 {
      fatalError(
        "Multicast: ReentrancyPolicy.allow(depth: \(depth)) is negative; use 0 or more")
    }
    self.policy = policy
    self.onRecursion = onRecursion
  }
}

// MARK: - Synchronous deliveries

extension ReentrancyGuard {
  /// Links a `notify` into its thread's chain, or reports it and returns false.
  ///
  /// Remove it with ``ActiveDelivery/pop()``, on the same thread. `key` names the protocol, for the report.
  @usableFromInline
  func enter(
    _ notify: UnsafeMutablePointer<ActiveDelivery>, list: ClientList, key: () -> String
  ) -> Bool {
    let chain = DeliveryChain()
    if !chain.isEmpty || list.isAwaited {
      let site = unsafe notify.pointee.site
      guard allows(list: list, site: site, in: chain) else {
        report(site: site, key: key(), in: chain)
        return false
      }
    }
    unsafe chain.push(notify)
    return true
  }
}

// MARK: - Awaited deliveries

extension ReentrancyGuard {
  /// Returns a link for a task's chain; nil if the `notify` was reported.
  @usableFromInline
  func enterAwaited(
    list: ClientList, site: CallSite, key: () -> String
  ) -> AwaitedNotify? {
    let chain = DeliveryChain()
    guard allows(list: list, site: site, in: chain) else {
      report(site: site, key: key(), in: chain)
      return nil
    }
    return AwaitedNotify(list: list, site: site)
  }
}

// MARK: - The decision

extension ReentrancyGuard {
  private func allows(list: ClientList, site: CallSite, in chain: DeliveryChain) -> Bool {
    let list = ObjectIdentifier(list)
    var sitesInList = 0
    var sameSite = 0
    func count(_ activeList: ObjectIdentifier, _ activeSite: CallSite) {
      guard activeList == list else { return }
      sitesInList += 1
      if activeSite == site { sameSite += 1 }
    }
    let letter = chain.forEach { active in count(active.list, active.site) }
    AwaitedNotify.forEachOfTask(since: letter) { active in count(active.list, active.site) }
    return switch policy {
    case .refuseLoops: sameSite == 0
    case .refuseNesting: sitesInList == 0
    case .allow(let depth): sameSite <= depth
    }
  }

  /// Whether the handler is running further up this call stack.
  private func isReporting(in chain: DeliveryChain) -> Bool {
    var found = false
    chain.forEach { active in
      if active.list == ObjectIdentifier(self) { found = true }
    }
    return found
  }

  private func report(site: CallSite, key: String, in chain: DeliveryChain) {
    // Innermost first. An awaited delivery is further out than the deliveries on the stack.
    var path = [site]
    let letter = chain.forEach { active in path.append(active.site) }
    AwaitedNotify.forEachOfTask(since: letter) { active in path.append(active.site) }
    report(RecursiveNotify(key: key, path: path.reversed()), in: chain)
  }

  /// Reports a post that one of its causes has set off too often.
  func reportPost(from site: CallSite, after cause: Cause, key: String) {
    let path = [site] + cause.sites
    report(
      RecursiveNotify(key: key, path: path.reversed(), isPost: true), in: DeliveryChain())
  }

  private func report(_ report: RecursiveNotify, in chain: DeliveryChain) {
    guard let site = report.path.last else { return }
    if let onRecursion, !isReporting(in: chain) {
      // A handler that notifies may cause the same loop or another one. That one is printed. Otherwise
      // handler and loop would alternate forever.
      var link = ActiveDelivery(list: ObjectIdentifier(self), site: site)
      unsafe withUnsafeMutablePointer(to: &link) { link in
        unsafe chain.push(link)
        onRecursion(report)
        unsafe link.pointee.pop()
      }
    } else if printed.withLock({ $0.insert(Loop(key: report.key, site: site)).inserted }) {
      StandardError.print(report.summary)
    }
  }
}
