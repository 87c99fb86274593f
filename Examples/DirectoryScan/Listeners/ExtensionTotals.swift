/// Counts files and their bytes by the extensions of their names.
///
/// An extension is what follows the last dot of a name, if the name does not begin with this dot. The
/// case of ASCII letters does not matter: `.JPG` is `.jpg`.
final class ExtensionTotals: ScanListener, ReportSource {
  private var totals: [[UInt8]: Report.Extension] = [:]

  func found(_ file: File) {
    let name = Self.fileExtension(of: file.path.name)
    totals[name, default: Report.Extension(name: name)].count(file)
  }

  func add(to report: inout Report) {
    report.extensions = totals.values.sorted { one, other in
      one.bytes != other.bytes
        ? one.bytes > other.bytes : one.name.lexicographicallyPrecedes(other.name)
    }
  }

  private static func fileExtension(of name: ArraySlice<UInt8>) -> [UInt8] {
    guard let dot = name.lastIndex(of: Path.dot), dot != name.startIndex else { return [] }
    return name[(dot + 1)...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}

extension Report.Extension {
  fileprivate mutating func count(_ file: File) {
    files += 1
    bytes.addSaturating(file.bytes)
  }
}
