import Multicast

/// Collects the reports of refused notifies.
package final class Reports: Sendable {
  private let reports = Collected<RecursiveNotify>()

  /// A center that reports here.
  package let center: MulticastCenter

  package init() {
    center = MulticastCenter(onRecursion: reports.add)
  }

  /// To be passed as `onRecursion`.
  package var handler: @Sendable (RecursiveNotify) -> Void { reports.add }

  package var all: [RecursiveNotify] { reports.all }
}
