import Foundation

/// The name of a home. A queue is marked with it, and whatever runs on the queue can read it there.
let homeName = DispatchSpecificKey<String>()

/// Prints the time, the home in which this is called, the name of the object that calls it, and what that does.
func say(_ name: String, _ text: String) {
  // Asks where this runs, instead of believing what the caller declares.
  let home = DispatchQueue.getSpecific(key: homeName)
  let style: Style =
    switch home {
    case nil: .yellow
    case "main actor": .cyan
    default: .magenta
    }
  print(
    " ", styled(time(), .dim), "", styled(column(home ?? "background", width: 13), style), "",
    styled(column(name, width: 15), .bold), "", text)
}

/// Prints the title of a part.
func heading(_ text: String) {
  print("\n" + styled(text, .bold))
}

// MARK: - Columns

private let start = DispatchTime.now()

/// The milliseconds since the first line.
private func time() -> String {
  let start = start  // Made at its first use, so before the time that it is compared with.
  let nanoseconds = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
  return String(format: "%5.2f ms", Double(nanoseconds) / 1_000_000)
}

private func column(_ text: String, width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

// MARK: - Color

/// A color or weight, as a code of ECMA-48.
enum Style: Int {
  case bold = 1, dim = 2, red = 31, yellow = 33, magenta = 35, cyan = 36
}

/// Whether standard output is a terminal, and the user has not switched colors off: see no-color.org.
private let showsColor: Bool = {
  let environment = ProcessInfo.processInfo.environment
  return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
    && environment["TERM"] != "dumb"
}()

func styled(_ text: String, _ style: Style) -> String {
  showsColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
}
