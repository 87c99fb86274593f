import Foundation

/// A logarithmic axis.
struct LogAxis {
  private let exponents: ClosedRange<Double>
  private let start: Double
  private let end: Double

  /// An axis for positive values, from one position in the picture to another.
  ///
  /// - Parameter wholeDecades: Whether it begins and ends with a power of ten.
  init(covering values: [Double], from start: Double, to end: Double, wholeDecades: Bool) {
    self.start = start
    self.end = end
    let low = log10(max(values.min() ?? 1, 1e-3))
    let high = log10(max(values.max() ?? 10, 1e-3))
    let range = wholeDecades ? (low.rounded(.down), high.rounded(.up)) : (low, high)
    // One value alone would be an axis without length.
    exponents = range.0...max(range.1, range.0 + 1e-9)
  }

  func position(of value: Double) -> Double {
    let part =
      (log10(max(value, 1e-3)) - exponents.lowerBound)
      / (exponents.upperBound - exponents.lowerBound)
    return start + part * (end - start)
  }

  /// The powers of ten on the axis.
  var decades: [Double] {
    let first = Int(exponents.lowerBound.rounded(.up))
    let last = Int((exponents.upperBound + 1e-6).rounded(.down))
    return first > last ? [] : (first...last).map { pow(10, Double($0)) }
  }
}
