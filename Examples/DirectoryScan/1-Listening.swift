import Multicast

/// What the scanner tells. With a default for each method, a client implements what it needs.
///
/// The protocol belongs to an actor: the compiler lets only code in this actor notify it, and its
/// clients need no locks.
@ScanActor protocol ScanListener: AnyObject {
  func found(_ file: File)
  func foundFolder(_ path: Path)
  func foundLink(_ path: Path)
  /// A device, a pipe or a socket.
  func foundSpecial(_ path: Path)
  /// Everything in a folder is found, except what is in its subfolders.
  func finishedFolder(_ path: Path)
  func met(_ problem: Problem)

  /// Answers with groups of files to compare, the last one first. If nobody wants any, none is read.
  func filesToCompare() -> [[File]]
  func willCompare(bytes: Int)
  /// So many bytes have been read, or need not be read any more.
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

/// A call of a listener, written where something is found and made later, in the listeners' actor.
typealias ScanEvent = @Sendable @ScanActor (any ScanListener) -> Void

/// A listener that adds something to the report.
@ScanActor protocol ReportSource: AnyObject {
  func add(to report: inout Report)
}

/// Puts the finished report somewhere, and answers with what went wrong, or nil.
@MainActor protocol ReportWriter: AnyObject {
  func write(_ report: Report) -> String?
}

/// How far the scan has come. This is a topic because those who draw it live in another actor.
extension Topic<Progress> { static var progress: Topic { Topic("progress") } }

@globalActor actor ScanActor { static let shared = ScanActor() }
