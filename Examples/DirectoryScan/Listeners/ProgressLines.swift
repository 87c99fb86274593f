import Multicast

/// Writes the progress to standard error, in a line every second and one at the end.
@MainActor final class ProgressLines {
  private var lastLine = Duration.zero

  init(center: MulticastCenter) {
    center.observe(.progress, owner: self) { lines, progress in lines.show(progress) }
  }

  private func show(_ progress: Progress) {
    if case .ended = progress.phase {
    } else {
      guard progress.elapsed - lastLine >= .seconds(1) else { return }
    }
    lastLine = progress.elapsed
    try? Output.standardError.write("\(progress)\n".utf8)
  }
}
