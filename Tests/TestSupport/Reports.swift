import Multicast

/// Collects the reports of refused notifies.
package final class Reports: Sendable {
  private let reports = Locked<[RecursiveNotify]>([])

  package init() {}

  package var all: [RecursiveNotify] { reports.withLock { $0 } }

  /// To be passed as `onRecursion`.
  package var handler: @Sendable (RecursiveNotify) -> Void {
    { report in self.reports.withLock { $0.append(report) } }
  }
}
