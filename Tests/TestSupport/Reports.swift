import Multicast

/// Collects the reports of refused notifies.
package final class Reports: Sendable {
  private final class Store: Sendable {
    let all = Locked<[RecursiveNotify]>([])
  }

  private let store: Store

  /// To be passed as `onRecursion`.
  package let handler: @Sendable (RecursiveNotify) -> Void

  /// A center that reports here.
  package let center: MulticastCenter

  package init() {
    let store = Store()
    self.store = store
    handler = { report in store.all.withLock { $0.append(report) } }
    center = MulticastCenter(onRecursion: handler)
  }

  package var all: [RecursiveNotify] { store.all.withLock { $0 } }
}
