import Foundation
import Multicast

/// The result of a scan, in an order that does not depend on timing.
struct Report: Encodable {
  struct Totals: Encodable { var files = 0, folders = 0, links = 0, special = 0, bytes = 0 }

  let path: String
  let interrupted: Bool
  let totals: Totals
  let duplicates: [[File]]
  let problems: [Problem]

  var text: String {
    (interrupted ? "Interrupted: this is what was found so far.\n" : "")
      + "\(path): \(byteCount(totals.bytes)); files: \(totals.files), folders: \(totals.folders), "
      + "links: \(totals.links), special: \(totals.special)\n"
      + duplicates.reduce("") { text, files in
        text + "\nDuplicates of \(byteCount(files[0].bytes)):\n"
          + files.map { "  \($0.path.debugDescription)\n" }.joined()
      }
      + (problems.isEmpty ? "" : "\nProblems:\n")
      + problems.map { "  \($0.path.debugDescription): \($0.problem)\n" }.joined()
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self) + "\n"
  }
}

extension Topic<String> {
  /// The progress of the scan. A topic, because the home of its handler is another actor.
  static var progress: Self { Topic("progress") }
}

/// Counts, and posts the progress every second.
final class Totals: ScanListener {
  private let center: MulticastCenter
  private(set) var totals = Report.Totals()
  private var compared = 0
  private var nextPost = DispatchTime.now() + 1

  init(center: MulticastCenter) { self.center = center }

  func found(_ file: File) {
    totals.files += 1
    // Files with holes can be larger than all disks together.
    let (sum, isTooLarge) = totals.bytes.addingReportingOverflow(file.bytes)
    totals.bytes = isTooLarge ? .max : sum
    post()
  }

  func found(_ other: OtherItem) {
    switch other {
    case .folder: totals.folders += 1
    case .link: totals.links += 1
    case .special: totals.special += 1
    }
  }

  func compared(bytes: Int) {
    compared += bytes
    post()
  }

  private func post() {
    if .now() < nextPost { return }
    nextPost = .now() + 1
    let bytes = compared == 0 ? "" : ", compared \(byteCount(compared))"
    center.post(.progress, "files: \(totals.files), \(byteCount(totals.bytes))\(bytes)")
  }
}

/// Finds files of equal content. Ignores empty files and further names (hard links) of a file.
final class Duplicates: ScanListener {
  private var filesBySize: [Int: [File]] = [:]
  private(set) var groups: [[File]] = []

  func found(_ file: File) {
    if file.bytes > 0 { filesBySize[file.bytes, default: []].append(file) }
  }

  func filesToCompare() -> [[File]] {
    filesBySize.values.map { files in
      var seen: Set<[UInt64]> = []
      return files.sorted { $0.path < $1.path }.filter { seen.insert($0.id).inserted }
    }.filter { $0.count > 1 }
  }

  func foundEqual(_ files: [File]) { groups.append(files) }
}

final class Problems: ScanListener {
  private(set) var problems: [Problem] = []

  func met(_ problem: Problem) { problems.append(problem) }
}

/// Shows the progress on standard error.
@MainActor final class ProgressView {
  init(center: MulticastCenter) {
    // The handler runs in the actor where it is written, the main actor.
    center.observe(.progress, owner: self) { _, text in say(text) }
  }
}

private func byteCount(_ bytes: Int) -> String {
  ByteCountFormatter.string(fromByteCount: Int64(bytes), countStyle: .decimal)
}

/// Writes a line to standard error.
func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  // A closed stream is not an error: the user does not want to see it.
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
