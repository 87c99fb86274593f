/// What llvm-cov exports, as far as it is used here.
struct CoverageExport: Decodable {
  struct Unit: Decodable {
    let files: [File]
  }

  struct File: Decodable {
    let filename: String
    let segments: [Segment]
  }

  /// A place in a file from which on another count holds than before.
  struct Segment: Decodable {
    let line: Int
    let count: Int
    let hasCount: Bool
    let beginsRegion: Bool
    let isGap: Bool

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      line = try values.decode(Int.self)
      _ = try values.decode(Int.self)  // the column
      count = try values.decode(Int.self)
      hasCount = try values.decode(Bool.self)
      beginsRegion = try values.decode(Bool.self)
      isGap = try values.decode(Bool.self)
    }
  }

  let data: [Unit]
}
