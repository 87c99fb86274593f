/// An object that does something at its end, to be captured by what ought to end.
package final class Sentinel: Sendable {
  private let atEnd: @Sendable () -> Void

  package init(_ atEnd: @escaping @Sendable () -> Void) {
    self.atEnd = atEnd
  }

  package convenience init(_ journal: Journal) {
    self.init { journal.write("end") }
  }

  deinit { atEnd() }
}
