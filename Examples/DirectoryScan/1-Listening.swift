import Multicast

/// What the scanner announces. Every method has a default, so a client implements what it needs.
///
/// The protocol is isolated to an actor: only code in this actor can notify, and clients need no
/// locks.
@ScanActor protocol ScanListener: AnyObject {
  func found(_ file: File)
  func foundFolder(_ path: Path)
  func foundLink(_ path: Path)
  /// A device, a pipe or a socket.
  func foundSpecial(_ path: Path)
  /// All items of a folder were found, except those in its subfolders.
  func finishedFolder(_ path: Path)
  func met(_ problem: Problem)

  /// Returns groups of files to compare, the last group first. Files in no group are not read.
  func filesToCompare() -> [[File]]
  func willCompare(bytes: Int)
  /// This number of bytes was read or need not be read.
  func compared(bytes: Int)
  func foundEqual(_ files: [File])
}

extension ScanListener {
  func found(_ file: File) {}
  func foundFolder(_ path: Path) {}
  func foundLink(_ path: Path) {}
  func foundSpecial(_ path: Path) {}
  func finishedFolder(_ path: Path) {}
  func met(_ problem: Problem) {}
  func filesToCompare() -> [[File]] { [] }
  func willCompare(bytes: Int) {}
  func compared(bytes: Int) {}
  func foundEqual(_ files: [File]) {}
}

/// A call of a listener. The scanner makes it later, in the listeners' actor.
typealias ScanEvent = @Sendable @ScanActor (any ScanListener) -> Void

@ScanActor protocol ReportSource: AnyObject {
  func add(to report: inout Report)
}

/// Writes the finished report. Returns an error message, or nil.
@MainActor protocol ReportWriter: AnyObject {
  func write(_ report: Report) -> String?
}

/// The progress of the scan. A topic, because its observers live in another actor.
extension Topic<Progress> { static var progress: Topic { Topic("progress") } }

@globalActor actor ScanActor { static let shared = ScanActor() }
