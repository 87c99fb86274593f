import Foundation

@main
enum Compare {
  private static let usage = """
    Usage: Compare [--quick] [--filter TEXT] [--svg FILE]

    Measures Multicast and other systems by turns, in one run.

      --quick        Measure less: ends within 20 seconds, with more noise.
      --filter TEXT  Only tables whose title contains TEXT, in upper or lower case.
      --svg FILE     Draw the time per delivery over the number of clients in FILE.

    """

  static func main() throws {
    var (isQuick, filter, svgFile) = (false, String?.none, String?.none)
    var arguments = CommandLine.arguments.dropFirst()
    func next() -> String {
      guard let argument = arguments.popFirst() else { fail() }
      return argument
    }
    while let argument = arguments.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--filter": filter = next()
      case "--svg": svgFile = next()
      default: fail()
      }
    }
    for table in Lab(isQuick: isQuick).tables {
      guard filter.map(table.title.localizedCaseInsensitiveContains) ?? true else { continue }
      FileHandle.standardError.write(Data("\(table.title)\n".utf8))
      let columns = table.measure()
      print(table.text(columns))
      if let file = svgFile, table.isDrawn {
        try Chart(table, columns).svg.write(toFile: file, atomically: true, encoding: .utf8)
      }
    }
  }

  private static func fail() -> Never {
    FileHandle.standardError.write(Data(usage.utf8))
    // EX_USAGE of sysexits.h.
    exit(64)
  }
}
