import Foundation

/// The numbers for other programs: best and median of every cell, and the ratios as they are printed
/// can be computed from them.
struct JSONReport: Codable {
  let tables: [Table]

  var text: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
  }
}
