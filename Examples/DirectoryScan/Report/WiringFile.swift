import Multicast

/// Writes a picture of who listens to what, in Mermaid: of everybody who is there at the end of a scan.
@MainActor final class WiringFile: ReportWriter {
  let output: Output
  private let center: MulticastCenter

  init(to output: Output, center: MulticastCenter) {
    self.output = output
    self.center = center
    center.add(self, for: ReportWriter.self)
  }

  func text(of report: Report) -> String {
    center.wiring.mermaid
  }
}
