import Foundation

@main
enum Compare {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.isHelp {
        print(Options.usage, terminator: "")
      } else {
        try run(options)
      }
    } catch let error as Options.UsageError {
      StandardError.write("Compare: \(error.problem)\n\(Options.usage)")
      // EX_USAGE of sysexits.h.
      exit(64)
    } catch {
      StandardError.write("Compare: \(error.localizedDescription)\n")
      exit(1)
    }
  }

  private static func run(_ options: Options) throws {
    let experiment = Experiment(
      effort: options.isQuick ? .quick : .full, selection: Selection(filter: options.filter))
    var tables: [Table] = []
    for makeTable in Experiment.tables {
      guard let table = makeTable(experiment)() else { continue }
      experiment.progress.clear()
      if !tables.isEmpty { print() }
      print(table.text, terminator: "")
      tables.append(table)
    }
    if tables.isEmpty {
      throw Options.UsageError(problem: "nothing contains \(options.filter ?? "")")
    }
    if let file = options.jsonFile { try write(JSONReport(tables: tables).text, to: file) }
    if let file = options.svgFile {
      guard let table = tables.first(where: { $0.title == Experiment.deliveryTitle }) else {
        throw Options.UsageError(problem: "the filter leaves nothing to draw")
      }
      try write(Chart(table).svg, to: file)
    }
  }

  private static func write(_ text: String, to file: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  }
}

extension Experiment {
  /// All tables, in the order in which they are printed. A table is nil if the filter leaves no row.
  static let tables: [@Sendable (Experiment) -> () -> Table?] = [
    { $0.delivery }, { $0.fixedCost }, { $0.membership }, { $0.memory }, { $0.threads },
    { $0.churn }, { $0.manyLists }, { $0.million }, { $0.lateOnQueue }, { $0.lateInMainActor },
    { $0.lateInStreams },
  ]
}
