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

  struct Item: Decodable, Equatable {
    var path: String
    var pathBytes: Data?
    var bytes: Int?
  }

  struct Duplicates: Decodable, Equatable {
    var bytes: Int
    var wasted: Int
    var files: [Item]
  }

  struct Problem: Decodable, Equatable {
    var path: String
    var pathBytes: Data?
    var kind: String
    var reason: String?
    var target: String?
    var targetBytes: Data?
  }

  var path: String
  var pathBytes: Data?
  var interrupted: Bool
  var totals: Totals
  var extensions: [Extension]
  var largest: [Item]
  var duplicates: [Duplicates]
  var problems: [Problem]
}

extension ScanReport {
  init(_ json: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
  }
}

extension Program {
  /// Scans a tree.
  ///
  /// - Returns: The report, from JSON on standard output, and the exit status.
  static func scan(
    _ path: String, launcher: [String] = []
  ) async throws -> (report: ScanReport, status: Int32) {
    let outcome = try await run(["--quiet", "--json", "-", path], launcher: launcher)
    return (try ScanReport(outcome.output), outcome.status)
  }
}
