import Foundation
import Multicast

/// The program, which alone knows all listeners.
@main @MainActor enum DirectoryScan {
  static func main() async {
    prepareStandardStreams()
    do throws(Arguments.UsageError) {
      let arguments = try Arguments()
      if !arguments.isHelp { exit(await scan(arguments)) }
      print(Arguments.usage)
    } catch {
      complain("\(error.problem)\n\n\(Arguments.usage)")
      exit(EX_USAGE)
    }
  }

  /// Scans, writes the reports, and returns the exit status.
  private static func scan(_ arguments: Arguments) async -> Int32 {
    do throws(SystemError) {
      if try stat(of: arguments.path, following: true).kind != S_IFDIR {
        complain("\(arguments.path): not a folder; give the path of a folder")
        return 1
      }
    } catch {
      complain("\(arguments.path): cannot be scanned (\(error)); check the path")
      return 1
    }
    let center = MulticastCenter(
      onDelivery: arguments.slow.map { DeliveryLog.calls(slowerThan: $0) })
    // A center holds its clients weakly, so they are kept here.
    let writers = addWriters(to: center, arguments)
    let counters = await addCounters(to: center)
    defer { extendLifetime((writers, counters)) }
    let scan = Task { @ScanActor in
      await Scanner(center: center).scan(arguments.path)
      var report = Report(root: arguments.path, isInterrupted: Task.isCancelled)
      center.notify(ReportSource.self) { $0.add(to: &report) }
      return report
    }
    onInterrupt { scan.cancel() }
    let report = await scan.value
    // This post calls the progress bar before it returns, so the bar disappears before the report.
    center.post(.progress, report.progress)
    let failures = center.map(ReportWriter.self) { $0.write(report) }.compactMap(\.self)
    failures.forEach(complain)
    if report.isInterrupted { return 130 }
    return report.problems.isEmpty && failures.isEmpty ? 0 : 1
  }

  private static func addWriters(to center: MulticastCenter, _ options: Arguments) -> [AnyObject] {
    var writers: [AnyObject] = []
    if !options.isQuiet {
      let isTerminal = isatty(STDERR_FILENO) == 1
      writers.append(isTerminal ? ProgressBar(center: center) : ProgressLines(center: center))
    }
    if let file = options.json { writers.append(JSONReport(to: file, center: center)) }
    if let file = options.wiring { writers.append(WiringFile(to: file, center: center)) }
    // Standard output has a single report.
    if options.json != .dash, options.wiring != .dash {
      writers.append(TextReport(to: .dash, center: center))
    }
    return writers
  }

  /// Counters live in the actor that the scanner notifies in.
  @ScanActor private static func addCounters(to center: MulticastCenter) -> any Sendable {
    let counters: [any ScanListener & ReportSource & Sendable] = [
      Totals(), ExtensionTotals(), LargestFiles(), ProblemList(), DuplicateFinder(),
      ProgressMeter(center: center),
    ]
    for counter in counters {
      center.add(counter, for: ScanListener.self)
      center.add(counter, for: ReportSource.self)
    }
    return counters
  }

  private static func complain(_ message: String) {
    try? put("DirectoryScan: error: \(message)\n", to: STDERR_FILENO)
  }
}
