import Foundation

/// What the scripts in `.ci` need that is more than a few lines of shell.
@main
enum Tools {
  static func main() {
    do {
      var arguments = Arguments(CommandLine.arguments.dropFirst())
      switch arguments.next() {
      case "extract-examples": try ExtractExamples(&arguments).run()
      case "check-documentation": try CheckDocumentation(&arguments).run()
      case "list-interface": try ListInterface(&arguments).run()
      case "report-coverage": try ReportCoverage(&arguments).run()
      case let name: throw UsageError("there is no command \(name ?? "")")
      }
    } catch let error as UsageError {
      printError(error)
      exit(2)
    } catch {
      printError("\(error)")
      exit(1)
    }
  }
}
