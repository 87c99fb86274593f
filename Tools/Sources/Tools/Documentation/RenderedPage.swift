import Foundation

/// A page that docc has made, as far as it is used here.
struct RenderedPage: Decodable {
  struct Identifier: Decodable {
    let url: String
  }

  struct Metadata: Decodable {
    let role: String?
    let symbolKind: String?
  }

  /// A group of links to what belongs to the page.
  struct TopicSection: Decodable {
    let identifiers: [String]

    /// Whether docc has made it, of what nobody has put into a group.
    let generated: Bool?
  }

  let identifier: Identifier
  let metadata: Metadata
  let topicSections: [TopicSection]?
}

extension RenderedPage {
  /// Whether it is to stand in a group of another page.
  ///
  /// A module is where these begin. docc itself makes pages for extended types of other modules, and
  /// for all of a type's members that a protocol requires.
  var belongsIntoGroup: Bool {
    metadata.symbolKind != "module" && metadata.symbolKind != "extension"
      && metadata.role != "collectionGroup"
  }

  /// Whether docc has dropped a part of it: it takes a section named "Topics" for a list of links, and
  /// drops what else stands there, and behind it.
  var isCutOff: Bool {
    metadata.role == "collectionGroup" && (topicSections ?? []).isEmpty
  }

  /// The pages in all groups.
  var listed: [String] { (topicSections ?? []).flatMap(\.identifiers) }

  /// The pages in groups that somebody has written.
  var curated: [String] {
    (topicSections ?? []).filter { $0.generated != true }.flatMap(\.identifiers)
  }
}

extension RenderedPage {
  /// All pages of an archive.
  static func all(in archive: URL) throws -> [RenderedPage] {
    let pages = archive.appending(path: "data/documentation")
    guard
      let files = FileManager.default.enumerator(at: pages, includingPropertiesForKeys: nil)
    else { throw UsageError("there are no pages in \(archive.path)") }
    return try files.compactMap { $0 as? URL }
      .filter { $0.pathExtension == "json" }
      .map { file in try JSONDecoder().decode(Self.self, from: Data(contentsOf: file)) }
  }

  /// What stands in no group, by name. docc itself groups the members of a page without groups, by kind.
  static func uncurated(of pages: [RenderedPage]) -> [String] {
    let curated = Set(pages.flatMap(\.curated))
    var byKind = Set(
      pages.filter { $0.curated.isEmpty && $0.belongsIntoGroup }.flatMap(\.listed))
    // The page of what a protocol requires stands in such a group, too.
    byKind.formUnion(pages.filter { byKind.contains($0.identifier.url) }.flatMap(\.listed))
    return pages.filter(\.belongsIntoGroup)
      .map(\.identifier.url)
      .filter { !curated.contains($0) && !byKind.contains($0) }
      .map(name)
      .sorted()
  }

  /// What docc has dropped a part of, by name.
  static func cutOff(of pages: [RenderedPage]) -> [String] {
    pages.filter(\.isCutOff).map { name($0.identifier.url) }.sorted()
  }

  private static func name(_ url: String) -> String {
    url.components(separatedBy: "/documentation/").dropFirst().joined()
  }
}
