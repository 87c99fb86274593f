import Foundation

@main
enum Compare {
  private static let usage = """
    Usage: Compare [--quick] [--filter TEXT] [--svg FILE]

    Measures Multicast and other systems by turns, in one run.

      --quick        Measure less: ends within 20 seconds, with more noise.
      --filter TEXT  Only tables whose title contains TEXT, and rows that do, in upper or lower case.
                     Rows that others are compared with are always measured.
      --svg FILE     Draw the time per delivery over the number of clients in FILE.

    """

  static func main() throws {
    var (lab, svgFile) = (Lab(), String?.none)
    var arguments = CommandLine.arguments.dropFirst()
    func next() -> String {
      guard let argument = arguments.popFirst(), !argument.hasPrefix("--") else { fail() }
      return argument
    }
    while let argument = arguments.popFirst() {
      switch argument {
      case "--quick": lab.isQuick = true
      case "--filter": lab.filter = next()
      case "--svg": svgFile = next()
      case "--help": return print(usage, terminator: "")
      default: fail()
      }
    }
    let tables = Lab.tables.compactMap { makeTable in
      let table = makeTable(lab)()
      if let table { print(table.text) }
      return table
    }
    if tables.isEmpty { fail() }
    if let svgFile {
      guard let table = tables.first(where: { $0.title == Lab.deliveryTitle }) else { fail() }
      try Chart(table).svg.write(toFile: svgFile, atomically: true, encoding: .utf8)
    }
  }

  private static func fail() -> Never {
    FileHandle.standardError.write(Data(usage.utf8))
    // EX_USAGE of sysexits.h.
    exit(64)
  }
}
