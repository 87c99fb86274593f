import Multicast

/// Counts how far the scan has come, and posts it for those who draw.
///
/// It posts at once, and then ten times a second at most, so that drawing costs the scan next to nothing.
final class ProgressMeter: ScanListener, ComparisonListener, PhaseListener {
  private static let pause = Duration.milliseconds(100)

  private let center: MulticastCenter
  private let start = ContinuousClock.now
  private var comparingStart: Duration?
  private var lastPost: Duration?

  private var files = 0
  private var bytes = 0
  private var problems = 0
  private var folders = (read: 0, known: 0)
  private var compared = (read: 0, known: 0)

  init(center: MulticastCenter) {
    self.center = center
  }

  func found(_ file: File) {
    files += 1
    bytes.addSaturating(file.bytes)
    postIfDue()
  }

  func foundFolder(_ path: Path) {
    folders.known += 1
    postIfDue()
  }

  func finishedFolder(_ path: Path) {
    folders.read += 1
    postIfDue()
  }

  func met(_ problem: Problem) {
    problems += 1
  }

  func willCompare(bytes: Int) {
    comparingStart = comparingStart ?? start.duration(to: .now)
    compared.known.addSaturating(bytes)
  }

  func compared(bytes: Int) {
    compared.read.addSaturating(bytes)
    postIfDue()
  }

  nonisolated(nonsending) func scanDidEnd() async {
    // When this returns, the last message has been drawn.
    await center.postAndWait(.progress, progress(phase: .ended, at: start.duration(to: .now)))
  }

  private func postIfDue() {
    let now = start.duration(to: .now)
    if let lastPost, now - lastPost < Self.pause { return }
    lastPost = now
    center.post(.progress, progress(phase: phase, at: now))
  }

  private var phase: Progress.Phase {
    comparingStart == nil
      ? .walking(read: folders.read, known: folders.known)
      : .comparing(read: compared.read, known: compared.known)
  }

  private func progress(phase: Progress.Phase, at elapsed: Duration) -> Progress {
    let rate =
      if case .comparing = phase, let comparingStart {
        Double(compared.read) / max((elapsed - comparingStart).seconds, 0.001)
      } else {
        Double(files) / max(elapsed.seconds, 0.001)
      }
    return Progress(
      phase: phase, files: files, bytes: bytes, problems: problems, elapsed: elapsed, rate: rate)
  }
}
