import Synchronization

/// Decides whether a notify may begin inside the ones that are active, and reports it if not.
@usableFromInline
final class ReentrancyGuard: Sendable {
  /// What the default handler has said already: one line for one loop, however often it is refused.
  private struct Loop: Hashable {
    let list: ObjectIdentifier
    let site: CallSite
  }

  private let policy: ReentrancyPolicy
  private let onRecursion: (@Sendable (RecursiveNotify) -> Void)?
  private let printed = Locked<Set<Loop>>([])

  /// Kept here, because to find a global takes a look whether it has been made.
  private let threads = NotifyChain.ofThreads

  init(policy: ReentrancyPolicy, onRecursion: (@Sendable (RecursiveNotify) -> Void)?) {
    if case .allow(let depth) = policy, depth < 0 {
      fatalError(
        "Multicast: ReentrancyPolicy.allow(depth: \(depth)) is negative; use 0 or more")
    }
    self.policy = policy
    self.onRecursion = onRecursion
  }
}

// MARK: - Synchronous notifies

extension ReentrancyGuard {
  /// Links a notify into its thread's chain, or reports it and returns false.
  ///
  /// A notify that was let in is taken out with ``ActiveNotify/pop()``, on the same thread. `listener`
  /// names the protocol or the topic, for the report.
  @usableFromInline
  func enter(
    _ notify: UnsafeMutablePointer<ActiveNotify>, listener: () -> String
  ) -> Bool {
    let chain = NotifyChain(threads)
    if !chain.isEmpty || AwaitedNotify.exist {
      let (list, site) = unsafe (notify.pointee.list, notify.pointee.site)
      guard allows(list: list, site: site, in: chain) else {
        report(list: list, site: site, listener: listener(), in: chain)
        return false
      }
    }
    unsafe chain.push(notify)
    return true
  }
}

// MARK: - Awaited notifies

extension ReentrancyGuard {
  /// A link for a task's chain, or nil, and then the notify has been reported.
  @usableFromInline
  func enterAwaited(
    list: ObjectIdentifier, site: CallSite, listener: () -> String
  ) -> AwaitedNotify? {
    let chain = NotifyChain(threads)
    guard allows(list: list, site: site, in: chain) else {
      report(list: list, site: site, listener: listener(), in: chain)
      return nil
    }
    return AwaitedNotify(list: list, site: site)
  }
}

// MARK: - The decision

extension ReentrancyGuard {
  private func allows(list: ObjectIdentifier, site: CallSite, in chain: NotifyChain) -> Bool {
    var sitesInList = 0
    var sameSite = 0
    func count(_ activeList: ObjectIdentifier, _ activeSite: CallSite) {
      guard activeList == list else { return }
      sitesInList += 1
      if activeSite == site { sameSite += 1 }
    }
    chain.forEach { active in count(active.list, active.site) }
    AwaitedNotify.forEachOfTask { active in count(active.list, active.site) }
    return switch policy {
    case .refuseLoops: sameSite == 0
    case .refuseNesting: sitesInList == 0
    case .allow(let depth): sameSite <= depth
    }
  }

  /// Whether the handler is running, further up this call stack.
  private func isReporting(in chain: NotifyChain) -> Bool {
    var found = false
    chain.forEach { active in
      if active.list == ObjectIdentifier(self) { found = true }
    }
    return found
  }

  private func report(
    list: ObjectIdentifier, site: CallSite, listener: String, in chain: NotifyChain
  ) {
    // Innermost first. What a task awaits is further out than what is on its stack.
    var path = [site]
    chain.forEach { active in path.append(active.site) }
    AwaitedNotify.forEachOfTask { active in path.append(active.site) }
    let report = RecursiveNotify(listener: listener, path: path.reversed())
    if let onRecursion, !isReporting(in: chain) {
      // A handler that notifies may run into another loop, or into the same. That one is reported on
      // standard error, or handler and loop would go on by turns.
      var link = ActiveNotify(list: ObjectIdentifier(self), site: site)
      unsafe withUnsafeMutablePointer(to: &link) { link in
        unsafe chain.push(link)
        onRecursion(report)
        unsafe link.pointee.pop()
      }
    } else if printed.withLock({ $0.insert(Loop(list: list, site: site)).inserted }) {
      StandardError.print(report.summary)
    }
  }
}
