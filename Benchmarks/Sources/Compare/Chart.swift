import Foundation

/// Time over the number of clients: a line for each row, both axes logarithmic, as an SVG.
struct Chart {
  private let title: String

  /// The numbers of clients. There is no 0 on this axis.
  private let counts: [Double]

  private let rows: [(title: String, times: [Double])]

  /// The powers of ten on the axis of times.
  private let decades: [Double]

  // The plot, in a picture of 1060 by 640.
  private let plot = CGRect(x: 76, y: 92, width: 614, height: 480)

  /// The picture of a table whose columns are numbers of clients, of which the first is 0.
  init(_ table: Table, _ columns: Table.Columns) {
    title = table.title
    counts = table.columns.dropFirst().compactMap { Double($0.filter(\.isNumber)) }
    rows = table.rows.enumerated().map { index, title in
      (title, columns.dropFirst().compactMap { $0[index]?.best })
    }
    let powers = rows.flatMap(\.times).map(log10)
    let (low, high) = (powers.min() ?? 0, powers.max() ?? 1)
    decades = (Int(low.rounded(.down))...Int(high.rounded(.up))).map { pow(10, Double($0)) }
  }

  private func x(_ count: Double) -> Double {
    plot.minX + log(count) / log(counts[counts.count - 1]) * plot.width
  }

  private func y(_ time: Double) -> Double {
    let range = log(decades[decades.count - 1] / decades[0])
    return plot.maxY - log(time / decades[0]) / range * plot.height
  }

  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1060 640" role="img" aria-labelledby="title">
    <title id="title">\(title) over the number of clients</title>
    \(Self.style)
    <rect width="100%" height="100%" rx="12"/>
    \(label(title, 24, 40, "heading"))
    \(label("nanoseconds over the number of clients; both axes logarithmic; lower is better", 24, 64))
    \(label("ns, \(grouped(Int(counts[counts.count - 1]))) clients", 1036, 64, "end"))
    \(label("clients", plot.midX, 618, "middle"))
    \((grid + lines).joined(separator: "\n"))
    </svg>

    """
  }

  private var grid: [String] {
    decades.map { time in
      let title = time < 1_000 ? "\(Int(time)) ns" : "\(Int(time / 1_000)) µs"
      return #"<path class="grid" d="M\#(point(plot.minX, y(time)))H\#(plot.maxX)"/>"#
        + label(title, plot.minX - 10, y(time) + 5, "end")
    }
      + counts.map { count in
        #"<path class="grid" d="M\#(point(x(count), plot.minY))V\#(plot.maxY)"/>"#
          + label(grouped(Int(count)), x(count), plot.maxY + 22, "middle")
      }
  }

  /// A line for each row, with its name at the end, below the previous name. The rows of a system have one color, and
  /// the first of them has the solid line.
  private var lines: [String] {
    var systems: [Substring] = []
    let styled = rows.map { row in
      let system = row.title.prefix { $0 != "," }
      let isVariant = systems.contains(system)
      if !isVariant { systems.append(system) }
      return (row, hue: 160 * (systems.firstIndex(of: system) ?? 0) % 360, isVariant)
    }
    var place = 0.0
    return styled.sorted { $0.0.times.last ?? 0 > $1.0.times.last ?? 0 }.map {
      row, hue, isVariant in
      let points = zip(counts, row.times).map { point(x($0), y($1)) }
      let (last, end) = (row.times.last ?? 1, y(row.times.last ?? 1))
      place = max(end, place + 20)
      let ours = row.title.hasPrefix("Multicast") ? "ours" : ""
      return """
        <g class="\(ours) \(isVariant ? "variant" : "")" style="--hue: \(hue)">
        <polyline points="\(points.joined(separator: " "))"/>
        <path class="leader" d="M\(point(plot.maxX + 7, end))L\(point(plot.maxX + 34, place))"/>
        \(label(row.title, plot.maxX + 40, place + 5, "name"))\(label(digits(last), 1036, place + 5, "end"))
        </g>
        """
    }
  }

  private func label(_ title: String, _ x: Double, _ y: Double, _ style: String = "") -> String {
    #"<text class="\#(style)" x="\#(format(x))" y="\#(format(y))">\#(title)</text>"#
  }

  private func point(_ x: Double, _ y: Double) -> String { "\(format(x)),\(format(y))" }

  private func format(_ value: Double) -> String { String(format: "%.1f", value) }

  /// The style sheet. It follows the reader's choice of light or dark. The picture has a background of its own, because
  /// the page around it may ignore that choice.
  private static let style = """
    <style>
    svg { --paper: #ffffff; --ink: #56606d; --grid: #e3e7ec; --tone: 36%; }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #11161d; --ink: #a9b4c1; --grid: #2a323d; --tone: 68%; }
    }
    rect { fill: var(--paper); }
    text { fill: var(--ink); font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
    .heading { font-size: 20px; font-weight: 600; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .name { fill: hsl(var(--hue), 75%, var(--tone)); }
    .ours .name { font-weight: 600; }
    polyline, path { fill: none; stroke: hsl(var(--hue), 75%, var(--tone)); stroke-width: 1.75; }
    .ours polyline { stroke-width: 3; }
    .variant polyline { stroke-dasharray: 7 5; }
    .leader { stroke-width: 1; opacity: 0.6; }
    .grid { stroke: var(--grid); stroke-width: 1; }
    </style>
    """
}
