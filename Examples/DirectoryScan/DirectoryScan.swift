import Foundation
import Multicast

/// The program.
@main
@MainActor enum DirectoryScan {
  static func main() async {
    StandardStreams.prepare()
    do {
      switch try Arguments(CommandLine.argumentBytes) {
      case .scan(let options): exit(await scan(options))
      case .help: print(Arguments.usage)
      }
    } catch {
      // 64 is what sysexits.h calls a usage error.
      complain("\(error.problem)\n\n\(Arguments.usage)")
      exit(64)
    }
  }

  /// Scans, and writes the reports.
  ///
  /// - Returns: The exit status.
  private static func scan(_ options: Arguments.Options) async -> Int32 {
    if let problem = problem(with: options.path) {
      complain("\(options.path): \(problem)")
      return 1
    }
    // A center holds its clients weakly: they listen for as long as this function keeps them.
    let center = MulticastCenter()
    let listeners = listeners(for: options, center: center)
    defer { extendLifetime(listeners) }

    let scan = Scan(options.path, center: center)
    defer { extendLifetime(scan) }

    let running = Task { await scan.run() }
    let interrupts = Interrupts { running.cancel() }
    let report = await running.value
    extendLifetime(interrupts)

    let failures = center.map(ReportWriter.self) { $0.write(report) }.compactMap(\.self)
    failures.forEach(complain)
    if report.isInterrupted { return 130 }
    return report.problems.isEmpty && failures.isEmpty ? 0 : 1
  }

  /// Those who show something: they live here, on the main actor.
  private static func listeners(
    for options: Arguments.Options, center: MulticastCenter
  ) -> [AnyObject] {
    var listeners: [AnyObject] = []
    if !options.isQuiet {
      listeners.append(
        isatty(STDERR_FILENO) == 1 ? ProgressBar(center: center) : ProgressLines(center: center))
    }
    if let output = options.json {
      listeners.append(JSONReport(to: output, center: center))
    }
    if let output = options.wiring {
      listeners.append(WiringFile(to: output, center: center))
    }
    // If something else goes to standard output, no text does.
    if options.json != .standardOutput, options.wiring != .standardOutput {
      listeners.append(TextReport(center: center))
    }
    return listeners
  }

  /// Why a path cannot be scanned at all; nil if it can.
  private static func problem(with path: Path) -> String? {
    do throws(SystemError) {
      let status = try Status(of: path.bytes, followingLinks: true)
      return status.kind == .folder ? nil : "not a folder; give the path of a folder"
    } catch {
      return "cannot be scanned (\(error)); check the path"
    }
  }

  private static func complain(_ message: String) {
    try? Output.standardError.write("DirectoryScan: error: \(message)\n".utf8)
  }
}
