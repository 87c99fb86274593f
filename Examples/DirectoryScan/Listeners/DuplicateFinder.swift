import Multicast

/// Finds files of equal content: of those of equal size it compares hashes of what they contain, and
/// of those of equal hashes every byte.
///
/// Empty files are left out, and so are those that are not what they were when they were found. The
/// names of one file, its hard links, count as one: the first path stands for all.
final class DuplicateFinder: ScanListener, PhaseListener, ReportSource {
  private let center: MulticastCenter
  private var filesBySize: [Int: [File]] = [:]
  private var groups: [[File]] = []

  init(center: MulticastCenter) {
    self.center = center
  }

  func found(_ file: File) {
    if file.bytes > 0 { filesBySize[file.bytes, default: []].append(file) }
  }

  nonisolated(nonsending) func walkDidEnd() async {
    let files = filesOfEqualSize()
    filesBySize = [:]
    var undecided = await filesOfEqualHash(among: files)
    while !undecided.isEmpty, !Task.isCancelled {
      undecided = await compare(undecided)
    }
  }

  func add(to report: inout Report) {
    report.duplicates = groups.map { Report.Duplicates($0) }.sorted { one, other in
      one.wasted != other.wasted ? one.wasted > other.wasted : one.paths[0] < other.paths[0]
    }
  }

  /// The files that are not the only ones of their size, the largest ones last.
  private func filesOfEqualSize() -> [File] {
    filesBySize.sorted { $0.key < $1.key }.flatMap { _, files in
      var seen: Set<FileID> = []
      let different = files.sorted { $0.path < $1.path }.filter { seen.insert($0.id).inserted }
      return different.count > 1 ? different : []
    }
  }

  /// Hashes files, and puts those of equal size and hash together where there are several.
  nonisolated(nonsending) private func filesOfEqualHash(among files: [File]) async -> [[File]] {
    var groups: [Hashing.Digest: [File]] = [:]
    await workThrough(files.map(Hashing.init)) { hashing, error in
      if let error {
        report(error)
      } else {
        groups[hashing.digest, default: []].append(hashing.file)
      }
    }
    return groups.values.filter { $0.count > 1 }
  }

  /// Compares the files of each group with its first one, and keeps those that are equal.
  ///
  /// - Returns: The files that are still to be compared with each other.
  nonisolated(nonsending) private func compare(_ undecided: [[File]]) async -> [[File]] {
    var equal: [FileID: [File]] = [:]
    var different: [FileID: [File]] = [:]
    var unreadable: Set<FileID> = []
    let pairs = undecided.flatMap { group in
      group.dropFirst().map { Comparison(group[0], $0) }
    }
    await workThrough(pairs) { pair, error in
      if let error, unreadable.insert(error.file.id).inserted { report(error) }
      if unreadable.contains(pair.other.id) { return }
      if error == nil, pair.isEqual {
        equal[pair.first.id, default: [pair.first]].append(pair.other)
      } else {
        different[pair.first.id, default: []].append(pair.other)
      }
    }
    // What was equal to a first file that is gone must be compared anew.
    for file in unreadable {
      if let others = equal.removeValue(forKey: file)?.dropFirst() {
        different[file, default: []] += others
      }
    }
    groups += equal.values
    return different.values.filter { $0.count > 1 }
  }

  /// Does work in parallel, the last piece first, and tells the listeners how far it has come.
  nonisolated(nonsending) private func workThrough<Work: SlicedWork>(
    _ work: [Work], ended: (Work, ContentError?) -> Void
  ) async {
    var bytes = 0
    for work in work { bytes.addSaturating(work.bytesLeft) }
    center.notify(ComparisonListener.self) { $0.willCompare(bytes: bytes) }
    await inParallel(work) {
      SliceOutcome(of: $0)
    } take: { outcome in
      center.notify(ComparisonListener.self) { $0.compared(bytes: outcome.bytesDone) }
      guard outcome.isLast else { return [outcome.work] }
      ended(outcome.work, outcome.error)
      return []
    }
  }

  private func report(_ error: ContentError) {
    guard let problem = error.problem else { return }
    center.notify(ScanListener.self) { $0.met(problem) }
  }
}
