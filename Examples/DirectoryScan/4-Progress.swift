import Foundation
import Multicast

/// Counts the progress of the scan and posts it at most ten times a second, because drawing takes
/// time.
final class ProgressMeter: ScanListener, ReportSource {
  private let center: MulticastCenter
  private let start = ContinuousClock.now
  private var progress = Progress()
  private var nextPost = Duration.zero

  init(center: MulticastCenter) { self.center = center }

  func foundFolder(_ path: Path) { update { $0.folders.known += 1 } }
  func finishedFolder(_ path: Path) { update { $0.folders.read += 1 } }
  func compared(bytes: Int) { update { $0.compared.read.add(bytes) } }
  func met(_ problem: Problem) { progress.problems += 1 }

  func found(_ file: File) {
    update {
      $0.files += 1
      $0.bytes.add(file.bytes)
    }
  }

  func willCompare(bytes: Int) {
    progress.comparingStart = start.duration(to: .now)
    progress.compared.known = bytes
  }

  func add(to report: inout Report) {
    report.progress = progress
    report.progress.elapsed = start.duration(to: .now)
    report.progress.isLast = true
  }

  private func update(_ change: (inout Progress) -> Void) {
    change(&progress)
    progress.elapsed = start.duration(to: .now)
    if progress.elapsed < nextPost { return }
    nextPost = progress.elapsed + .milliseconds(100)
    center.post(.progress, progress)
  }
}

/// Draws the progress in one line of the terminal.
@MainActor final class ProgressBar {
  private var widthDrawn = 0

  /// The handler runs in the actor where it is written, the main actor.
  init(center: MulticastCenter) {
    center.observe(.progress, owner: self) { bar, progress in bar.draw(progress) }
  }

  private func draw(_ progress: Progress) {
    let line = progress.isLast ? "" : line(progress)
    let rest = String(repeating: " ", count: max(0, widthDrawn - line.count))
    widthDrawn = line.count
    // A failure to draw must not end the scan.
    try? put("\r\(line)\(rest)\(progress.isLast ? "\r" : "")", to: STDERR_FILENO)
  }

  private func line(_ progress: Progress) -> String {
    var size = winsize()
    let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    // Many terminals move the cursor to the next line after the last column.
    let width = (isKnown ? Int(size.ws_col) : 80) - 1
    let length = max(5, width / 4 - 2)
    let done = Int(progress.share * Double(length))
    let bar = String(repeating: "#", count: done) + String(repeating: "-", count: length - done)
    return String("[\(bar)] \(progress)".prefix(width))
  }
}

/// Writes the progress to standard error: a line every second, and one at the end.
@MainActor final class ProgressLines {
  private var nextLine = Duration.seconds(1)

  init(center: MulticastCenter) {
    center.observe(.progress, owner: self) { lines, progress in
      if progress.elapsed < lines.nextLine, !progress.isLast { return }
      lines.nextLine = progress.elapsed + .seconds(1)
      try? put("\(progress)\n", to: STDERR_FILENO)
    }
  }
}

struct Progress: Sendable, CustomStringConvertible {
  var files = 0
  var bytes = 0
  var problems = 0
  var folders = (read: 0, known: 0)
  var compared = (read: 0, known: 0)
  var elapsed = Duration.zero
  /// Nil before the comparison.
  var comparingStart: Duration?
  var isLast = false

  /// The part that is done, from 0 to 1.
  var share: Double {
    let part = comparingStart == nil ? folders : compared
    return part.known == 0 ? 0 : Double(part.read) / Double(part.known)
  }

  /// The progress as a line of ASCII that begins with the rate.
  var description: String {
    let problems = problems == 0 ? "" : ", \(count(problems, "problem"))"
    func rate(_ number: Int, since start: Duration) -> Int {
      Int(min(Double(number) / max((elapsed - start) / .seconds(1), 0.001), 1e18))
    }
    if let comparingStart, !isLast {
      let rate = byteCount(rate(compared.read, since: comparingStart))
      let known = byteCount(compared.known)
      return "\(rate)/s, compared \(byteCount(compared.read)) of \(known)\(problems)"
    }
    let found = "\(rate(files, since: .zero)) files/s, \(count(files, "file")), \(byteCount(bytes))"
    return isLast
      ? "\(found)\(problems), done in \((elapsed / .seconds(1)).tenths) s"
      : "\(found), \(folders.read) of \(count(folders.known, "folder"))\(problems)"
  }
}
