import Foundation

/// Time over the number of clients: a line for each row, both axes logarithmic, as an SVG.
struct Chart {
  private let table: Table

  /// The numbers of clients. There is no 0 on this axis.
  private let counts: [(column: Int, clients: Double)]

  private let x: (Double) -> Double
  private let y: (Double) -> Double

  /// The powers of ten on the axis of times.
  private let decades: [Double]

  // The sizes of the picture, and of the plot in it.
  private static let (width, height) = (1060.0, 640.0)
  private static let (left, right, top, bottom) = (76.0, 690.0, 92.0, 572.0)

  /// The picture of a table whose columns are numbers of clients.
  init(_ table: Table) {
    self.table = table
    counts = table.columns.enumerated().compactMap { column, title in
      Double(title.filter(\.isNumber)).flatMap { $0 > 0 ? (column, $0) : nil }
    }
    let times = table.rows.flatMap { row in row.cells.dropFirst().compactMap { $0?.best } }
    let low = log10(times.min() ?? 1).rounded(.down)
    let high = max(log10(times.max() ?? 1).rounded(.up), low + 1)
    let most = log10(counts.last?.clients ?? 10)
    x = { Self.left + log10($0) / most * (Self.right - Self.left) }
    y = { Self.bottom - (log10($0) - low) / (high - low) * (Self.bottom - Self.top) }
    decades = (Int(low)...Int(high)).map { pow(10, Double($0)) }
  }

  var svg: String {
    ([head] + grid + lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  private var head: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(text(Self.width)) \(text(Self.height))" \
    role="img" aria-labelledby="title">
    <title id="title">\(table.title) over the number of clients</title>
    \(Style.sheet)
    """
  }

  private var grid: [String] {
    [
      #"<rect class="paper" width="100%" height="100%" rx="12"/>"#,
      label(table.title, 24, 40, "heading"),
      label(
        "nanoseconds over the number of clients; both axes logarithmic; lower is better", 24, 64,
        "axis"),
      label("ns, \(table.columns.last ?? "") clients", Self.width - 24, 64, "axis end"),
      label("clients", (Self.left + Self.right) / 2, Self.height - 22, "axis middle"),
    ]
      + decades.map { time in
        let title = time < 1_000 ? "\(text(time)) ns" : "\(text(time / 1_000)) µs"
        return
          #"<path class="grid" d="M\#(text(Self.left)) \#(text(y(time)))H\#(text(Self.right))"/>"#
          + label(title, Self.left - 10, y(time) + 5, "axis end")
      }
      + counts.map { _, count in
        #"<path class="grid" d="M\#(text(x(count))) \#(text(Self.top))V\#(text(Self.bottom))"/>"#
          + label(grouped(Int(count)), x(count), Self.bottom + 22, "axis middle")
      }
  }

  /// A line for each row with its name at the end, moved apart where names would overlap.
  private var lines: [String] {
    let rows = table.rows.map { row in
      (
        title: row.title, last: row.cells.last??.best ?? 1,
        points: counts.compactMap { column, count in
          row.cells[column].map { "\(text(x(count))),\(text(y($0.best)))" }
        }
      )
    }.sorted { $0.last > $1.last }
    let places = spread(
      rows.map { y($0.last) }, distance: 20, within: Self.top...(Self.bottom + 8))
    return zip(rows, places).map { row, place in
      let dots = row.points.map { point in
        let parts = point.split(separator: ",")
        return #"<circle class="dot" cx="\#(parts[0])" cy="\#(parts[1])" r="4"/>"#
      }
      let (right, end, place) = (Self.right, text(y(row.last)), place)
      return """
        <g class="\(Style.classes(row.title))">
        <polyline class="line" points="\(row.points.joined(separator: " "))"/>\(dots.joined())
        <path class="leader" d="M\(text(right + 7)) \(end) C\(text(right + 22)) \(end) \
        \(text(right + 18)) \(text(place)) \(text(right + 34)) \(text(place))"/>\
        \(label(row.title, right + 40, place + 5, "name"))\
        \(label(digits(row.last), Self.width - 24, place + 5, "value end"))
        </g>
        """
    }
  }
}

private func label(_ title: String, _ x: Double, _ y: Double, _ classes: String) -> String {
  #"<text class="\#(classes)" x="\#(text(x))" y="\#(text(y))">\#(title)</text>"#
}

private func text(_ value: Double) -> String {
  let text = String(format: "%.1f", value)
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// Positions as near as possible to the wanted ones, which are in order, each at least `distance` behind the one
/// before. Labels that would overlap become a block around the mean of their wishes. Blocks that touch become one.
private func spread(
  _ wanted: [Double], distance: Double, within bounds: ClosedRange<Double>
) -> [Double] {
  var blocks: [(sum: Double, count: Int)] = []
  func mean(_ block: (sum: Double, count: Int)) -> Double { block.sum / Double(block.count) }
  for (index, position) in wanted.enumerated() {
    // Without the distance that each has to keep, positions only have to ascend.
    var block = (sum: position - Double(index) * distance, count: 1)
    while let before = blocks.last, mean(before) > mean(block) {
      block = (before.sum + block.sum, before.count + block.count)
      blocks.removeLast()
    }
    blocks.append(block)
  }
  let highest = bounds.upperBound - Double(max(0, wanted.count - 1)) * distance
  return blocks.flatMap { Array(repeating: mean($0), count: $0.count) }.enumerated()
    .map { max(bounds.lowerBound, min($1, highest)) + Double($0) * distance }
}

/// How a line looks.
private enum Style {
  /// The variants of a system have one colour, and the first of them has the unbroken line.
  static func classes(_ title: String) -> String {
    let system = title.prefix { $0 != "," }
    let index = colors.firstIndex { $0.system == system } ?? colors.count
    let isVariant = ["opaque", "userInfo", "onDelivery"].contains { title.hasSuffix($0) }
    return "c\(index)" + (isVariant ? " variant" : "")
      + (title.hasPrefix("Multicast") ? " ours" : "")
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

  /// The style sheet. It follows the reader's choice of light or dark. The picture has a background of its own,
  /// because the page around it may have chosen otherwise.
  static let sheet = """
    <style>
    text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    .heading { font-size: 20px; font-weight: 600; }
    .axis { font-size: 13px; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .ours .name { font-weight: 600; }
    .line { fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linejoin: round; }
    .ours .line { stroke-width: 3; }
    .variant .line { stroke-dasharray: 7 5; }
    .leader { fill: none; stroke: currentColor; stroke-width: 1; opacity: 0.6; }
    .dot { fill: currentColor; stroke-width: 2; }
    .name { fill: currentColor; }
    \(rules(\.light, paper: "#ffffff", ink: "#1b2330", muted: "#56606d", grid: "#e3e7ec"))
    @media (prefers-color-scheme: dark) {
    \(rules(\.dark, paper: "#11161d", ink: "#eef2f7", muted: "#a9b4c1", grid: "#2a323d"))
    }
    </style>
    """

  private static func rules(
    _ color: ((system: String, light: String, dark: String)) -> String,
    paper: String, ink: String, muted: String, grid: String
  ) -> String {
    """
    .paper { fill: \(paper); } .dot { stroke: \(paper); } .heading, .value { fill: \(ink); }
    .axis { fill: \(muted); } .grid { stroke: \(grid); } svg { color: \(muted); }
    \(colors.indices.map { ".c\($0) { color: \(color(colors[$0])); }" }.joined(separator: " "))
    """
  }
}
