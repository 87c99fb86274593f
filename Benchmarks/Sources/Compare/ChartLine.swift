/// A row of a table as a line in a picture.
struct ChartLine {
  struct Point {
    let x: Double
    let y: Double
  }

  let title: String
  let points: [Point]
}
