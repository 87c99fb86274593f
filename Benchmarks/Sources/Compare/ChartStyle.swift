/// How a line looks.
struct ChartStyle {
  /// The classes in ``sheet`` that make it look so.
  let classes: String

  /// The variants of a system have one colour, and the first of them has the unbroken line.
  init(_ title: String) {
    let parts = title.split(separator: ",", maxSplits: 1)
    let index = Self.colors.firstIndex { $0.system == parts[0] } ?? Self.colors.count
    let isVariant = title.hasSuffix("opaque") || title.hasSuffix("userInfo")
    let isOurs = title.hasPrefix("Multicast")
    classes = "c\(index)" + (isVariant ? " variant" : "") + (isOurs ? " ours" : "")
  }

  private static let colors: [(system: String, light: String, dark: String)] = [
    ("Strong loop", "#64707f", "#9aa7b6"),
    ("Hand-written weak loop", "#8a6a00", "#d8b545"),
    ("Multicast notify", "#0a5fd0", "#66aaff"),
    ("Multicast forEach", "#00796f", "#3ccabb"),
    ("Multicast topic post", "#7436cf", "#b897ff"),
    ("Cast on each notify", "#c13c08", "#ff935c"),
    ("NotificationCenter", "#b8175a", "#ff7db2"),
    ("OpenCombine subject", "#3a7a1c", "#8dd267"),
    ("AsyncStream fan-out", "#7d4a33", "#d3a288"),
  ]

  /// The style sheet. It follows the reader's choice of light or dark, and brings its own background,
  /// since the page around a picture may have chosen otherwise.
  static let sheet = """
    <style>
    text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    .heading { font-size: 20px; font-weight: 600; }
    .axis { font-size: 13px; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .ours { font-weight: 600; }
    .line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
    .line.ours { stroke-width: 3; }
    .line.variant { stroke-dasharray: 7 5; }
    .leader { fill: none; stroke-width: 1; opacity: 0.6; }
    text[class] { stroke: none; }
    .dot { stroke-width: 2; }
    \(rules(\.light, paper: "#ffffff", ink: "#1b2330", muted: "#56606d", grid: "#e3e7ec"))
    @media (prefers-color-scheme: dark) {
    \(rules(\.dark, paper: "#11161d", ink: "#eef2f7", muted: "#a9b4c1", grid: "#2a323d"))
    }
    </style>
    """

  private static func rules(
    _ color: (((system: String, light: String, dark: String)) -> String),
    paper: String, ink: String, muted: String, grid: String
  ) -> String {
    let common = """
      .paper { fill: \(paper); }
      .heading, .value { fill: \(ink); }
      .axis { fill: \(muted); }
      .grid { stroke: \(grid); }
      .dot { stroke: \(paper); }
      """
    let unknown = (colors.count, muted)
    let colored = colors.enumerated().map { ($0.offset, color($0.element)) } + [unknown]
    let rules = colored.map { index, color in
      """
      .line.c\(index), .leader.c\(index) { stroke: \(color); }
      .dot.c\(index), .name.c\(index) { fill: \(color); }
      """
    }
    return ([common] + rules).joined(separator: "\n")
  }
}
