import Foundation

/// The JSON of a scan, with all its fields.
struct ScanReport: Decodable, Equatable {
  struct Totals: Decodable, Equatable {
    var files = 0
    var folders = 0
    var links = 0
    var special = 0
    var bytes = 0
  }

  struct Extension: Decodable, Equatable {
    var `extension`: String
    var extensionBytes: Data?
    var files: Int
    var bytes: Int
  }

  /// A file, a group of duplicates or a problem.
  struct Item: Decodable, Equatable {
    var path: String?
    var pathBytes: Data?
    var bytes: Int?
    var wasted: Int?
    var files: [Item]?
    var kind: String?
    var reason: String?
    var target: String?
    var targetBytes: Data?
  }

  var path: String
  var pathBytes: Data?
  var interrupted = false
  var totals = Totals()
  var extensions: [Extension] = []
  var largest: [Item] = []
  var duplicates: [Item] = []
  var problems: [Item] = []
}

extension ScanReport {
  init(_ json: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
  }
}
