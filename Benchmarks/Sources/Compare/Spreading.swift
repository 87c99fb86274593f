/// Moves labels apart.
enum Spreading {
  /// Positions as near as possible to the wanted ones, which are in order, each at least `distance`
  /// behind the one before.
  ///
  /// Where labels would overlap, they become a block with the mean of their wishes in its middle;
  /// blocks that touch become one.
  static func spread(
    _ wanted: [Double], distance: Double, within bounds: ClosedRange<Double>
  ) -> [Double] {
    struct Block {
      var sum: Double
      var count: Int
      var mean: Double { sum / Double(count) }
    }
    // Without the distance that each has to keep, positions only have to ascend.
    let wishes = wanted.enumerated().map { index, position in position - Double(index) * distance }
    var blocks: [Block] = []
    for wish in wishes {
      blocks.append(Block(sum: wish, count: 1))
      while let last = blocks.last, let before = blocks.dropLast().last, before.mean > last.mean {
        blocks.removeLast(2)
        blocks.append(Block(sum: before.sum + last.sum, count: before.count + last.count))
      }
    }
    let positions = blocks.flatMap { Array(repeating: $0.mean, count: $0.count) }
    let highest = bounds.upperBound - Double(max(0, wanted.count - 1)) * distance
    return positions.enumerated().map { index, position in
      max(bounds.lowerBound, min(position, highest)) + Double(index) * distance
    }
  }
}
