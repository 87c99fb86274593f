import Multicast

/// How far a scan has come: the message of the topic that those who draw observe.
struct Progress: Sendable {
  enum Phase: Sendable {
    /// Of so many folders that are known, so many have been read.
    case walking(read: Int, known: Int)
    /// Of so many bytes in files of equal size, so many have been compared.
    case comparing(read: Int, known: Int)
    /// Nothing follows this message.
    case ended
  }

  let phase: Phase
  let files: Int
  let bytes: Int
  let problems: Int

  /// The time since the scan began.
  let elapsed: Duration

  /// Bytes a second while files are compared, else files a second.
  let rate: Double
}

extension Topic where Message == Progress {
  static var progress: Self { Topic("progress") }
}

extension Progress: CustomStringConvertible {
  /// The progress in a line of ASCII, the rate first.
  var description: String {
    let found = "\(count(files, "file")), \(byteCount(bytes))"
    let problems = problems == 0 ? "" : ", \(count(problems, "problem"))"
    return switch phase {
    case .walking(let read, let known):
      "\(Int(rate)) files/s, \(found), \(read) of \(count(known, "folder"))\(problems)"
    case .comparing(let read, let known):
      "\(byteCount(Int(rate)))/s, compared \(byteCount(read)) of \(byteCount(known))\(problems)"
    case .ended:
      "\(Int(rate)) files/s, \(found)\(problems), done in \(elapsed.seconds.tenths) s"
    }
  }
}
