import Foundation

/// Time over number of clients: a line for each row, both axes logarithmic, as an SVG.
struct Chart {
  private let table: Table
  private let lines: [ChartLine]
  private let xAxis: LogAxis
  private let yAxis: LogAxis

  // The sizes of the picture, and of the plot in it.
  private static let (width, height) = (1060.0, 640.0)
  private static let (left, right) = (76.0, 690.0)
  private static let (top, bottom) = (92.0, 572.0)

  /// The least distance between the labels' base lines.
  private static let lineHeight = 20.0

  /// The picture of a table whose columns are numbers of clients.
  init(_ table: Table) {
    self.table = table
    let counts = table.columns.map { Double($0.filter(\.isNumber)) ?? 0 }
    lines = table.rows.map { row in
      ChartLine(
        title: row.title,
        points: zip(counts, row.cells).compactMap { count, cell in
          // Nothing is delivered to 0 clients, and there is no 0 on this axis.
          cell.flatMap { count > 0 ? ChartLine.Point(x: count, y: $0.best) : nil }
        })
    }
    let values = lines.flatMap { $0.points.map(\.y) }
    xAxis = LogAxis(
      covering: counts.filter { $0 > 0 }, from: Self.left, to: Self.right, wholeDecades: false)
    yAxis = LogAxis(covering: values, from: Self.bottom, to: Self.top, wholeDecades: true)
  }

  var svg: String {
    ([head, ChartStyle.sheet] + grid + curves + labels + ["</svg>"]).joined(separator: "\n") + "\n"
  }
}

// MARK: - Parts

extension Chart {
  private var head: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(Self.width)) \
    \(Self.text(Self.height))" role="img" aria-labelledby="title">
    <title id="title">\(table.title) over the number of clients</title>
    """
  }

  private var grid: [String] {
    var parts = [
      #"<rect class="paper" width="100%" height="100%" rx="12"/>"#,
      Self.label(table.title, x: 24, y: 40, class: "heading"),
      Self.label(
        "nanoseconds over the number of clients; both axes logarithmic; lower is better",
        x: 24, y: 64, class: "axis"),
      Self.label(
        "ns, \(table.columns.last ?? "") clients", x: Self.width - 24, y: 64, class: "axis end"),
      Self.label(
        "clients", x: (Self.left + Self.right) / 2, y: Self.height - 22, class: "axis middle"),
    ]
    for value in yAxis.decades {
      let y = yAxis.position(of: value)
      parts.append(Self.line(Self.left, y, Self.right, y, class: "grid"))
      parts.append(Self.label(Self.time(value), x: Self.left - 10, y: y + 5, class: "axis end"))
    }
    for point in lines.first?.points ?? [] {
      let x = xAxis.position(of: point.x)
      parts.append(Self.line(x, Self.top, x, Self.bottom, class: "grid"))
      parts.append(
        Self.label(Grouping.text(Int(point.x)), x: x, y: Self.bottom + 22, class: "axis middle"))
    }
    return parts
  }

  private var curves: [String] {
    lines.flatMap { line in
      let places = line.points.map { point in
        (x: Self.text(xAxis.position(of: point.x)), y: Self.text(yAxis.position(of: point.y)))
      }
      let path = places.map { "\($0.x),\($0.y)" }.joined(separator: " ")
      let style = ChartStyle(line.title)
      return [#"<polyline class="line \#(style.classes)" points="\#(path)"/>"#]
        + places.map {
          #"<circle class="dot \#(style.classes)" cx="\#($0.x)" cy="\#($0.y)" r="4"/>"#
        }
    }
  }

  /// The lines' names at their ends, moved apart where they would overlap.
  private var labels: [String] {
    let ends = lines.compactMap { line in line.points.last.map { (line, yAxis.position(of: $0.y)) }
    }
    .sorted { $0.1 < $1.1 }
    let places = Spreading.spread(
      ends.map(\.1), distance: Self.lineHeight, within: Self.top...(Self.bottom + 8))
    return zip(ends, places).flatMap { end, place in
      let (line, y) = end
      let style = ChartStyle(line.title)
      return [
        """
        <path class="leader \(style.classes)" d="M\(Self.text(Self.right + 7)) \(Self.text(y)) \
        C\(Self.text(Self.right + 22)) \(Self.text(y)) \(Self.text(Self.right + 18)) \
        \(Self.text(place)) \(Self.text(Self.right + 34)) \(Self.text(place))"/>
        """,
        Self.label(line.title, x: Self.right + 40, y: place + 5, class: "name \(style.classes)"),
        Self.label(
          Table.text(line.points.last?.y ?? 0), x: Self.width - 24, y: place + 5,
          class: "value end"),
      ]
    }
  }
}

// MARK: - Elements

extension Chart {
  private static func label(_ text: String, x: Double, y: Double, class: String) -> String {
    #"<text class="\#(`class`)" x="\#(Self.text(x))" y="\#(Self.text(y))">\#(text)</text>"#
  }

  private static func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class: String
  ) -> String {
    let (x1, y1, x2, y2) = (text(x1), text(y1), text(x2), text(y2))
    return #"<line class="\#(`class`)" x1="\#(x1)" y1="\#(y1)" x2="\#(x2)" y2="\#(y2)"/>"#
  }

  private static func text(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func time(_ nanoseconds: Double) -> String {
    nanoseconds < 1_000
      ? "\(text(nanoseconds)) ns" : "\(text(nanoseconds / 1_000)) µs"
  }
}
