import Foundation
import Multicast

/// Draws the progress in one line of the terminal that standard error is.
@MainActor final class ProgressBar {
  private var widthDrawn = 0

  init(center: MulticastCenter) {
    center.observe(.progress, owner: self) { bar, progress in bar.draw(progress) }
  }

  private func draw(_ progress: Progress) {
    var line = ""
    // The last column stays free: in many terminals the cursor would go on to the next line.
    if let share = progress.share { line = Self.line(progress, share, width: Self.columns - 1) }
    let rest = String(repeating: " ", count: max(0, widthDrawn - line.count))
    widthDrawn = line.count
    // A line that is not drawn is no reason to end the scan.
    try? Output.standardError.write(
      "\r\(line)\(rest)\(line.isEmpty ? "\r" : "")".utf8)
  }

  private static func line(_ progress: Progress, _ share: Double, width: Int) -> String {
    let length = max(5, width / 4 - 2)
    let done = Int(share * Double(length))
    let bar = String(repeating: "#", count: done) + String(repeating: "-", count: length - done)
    return String("[\(bar)] \(progress)".prefix(width))
  }

  /// The width of the terminal, which may change at any time.
  private static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}

extension Progress {
  /// How much of what is known is done, from 0 to 1; nil at the end.
  fileprivate var share: Double? {
    switch phase {
    case .walking(let read, let known), .comparing(let read, let known):
      known == 0 ? 0 : Double(read) / Double(known)
    case .ended: nil
    }
  }
}
