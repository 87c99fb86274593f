/// Finds files of equal content by asking for a comparison of files of equal size. Ignores empty
/// files and further names (hard links) of a file.
final class DuplicateFinder: ScanListener, ReportSource {
  private var filesBySize: [Int: [File]] = [:]
  private var duplicates: [[File]] = []

  func found(_ file: File) {
    if file.bytes > 0 { filesBySize[file.bytes, default: []].append(file) }
  }

  func filesToCompare() -> [[File]] {
    defer { filesBySize = [:] }
    return filesBySize.sorted { $0.key < $1.key }.compactMap { _, files in
      var seen: Set<FileID> = []
      let files = files.sorted { $0.path < $1.path }.filter { seen.insert($0.id).inserted }
      return files.count > 1 ? files : nil
    }
  }

  func foundEqual(_ files: [File]) { duplicates.append(files) }

  func add(to report: inout Report) {
    report.duplicates = duplicates.sorted { ($1.wasted, $0[0].path) < ($0.wasted, $1[0].path) }
  }
}
