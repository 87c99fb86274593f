import Foundation

@main
enum LoginSession {
  static func main() async {
    do {
      switch try Arguments(CommandLine.arguments.dropFirst()) {
      case .tour: await Tour().play()
      case .trace: await TraceTour().play()
      case .playback(let source): try Playback(source).play()
      case .help: print(Arguments.usage)
      }
    } catch let error as Arguments.UsageError {
      // EX_USAGE in sysexits.h.
      fail("LoginSession: error: \(error.problem)\n\n\(Arguments.usage)", status: 64)
    } catch {
      fail("\(error)", status: 1)
    }
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(status)
  }
}
