import Foundation
import Testing

@testable import Tools

struct RenderedPageTests {
  /// A page of a module M; `groups` is JSON.
  private func page(
    _ name: String, role: String = "symbol", kind: String = "struct", groups: String = "[]"
  ) throws -> RenderedPage {
    let json = """
      {
        "identifier": { "url": "doc://M/documentation/\(name)", "interfaceLanguage": "swift" },
        "metadata": { "role": "\(role)", "symbolKind": "\(kind)" },
        "topicSections": \(groups)
      }
      """
    return try JSONDecoder().decode(RenderedPage.self, from: Data(json.utf8))
  }

  private func group(of page: String, generated: Bool = false) -> String {
    """
    { "title": "Group", "identifiers": ["doc://M/documentation/\(page)"], "generated": \(generated) }
    """
  }

  @Test func `what stands in a group is curated`() throws {
    let pages = [
      try page("M", kind: "module", groups: "[\(group(of: "M/A"))]"),
      try page("M/A", groups: "[\(group(of: "M/A/b"))]"),
      try page("M/A/b"),
    ]
    #expect(RenderedPage.uncurated(of: pages) == [])
  }

  @Test func `what stands in no group, or in one that was generated, is not`() throws {
    let pages = [
      try page("M", kind: "module", groups: "[\(group(of: "M/A", generated: true))]"),
      try page("M/A"),
      try page("M/Article", role: "article", kind: ""),
    ]
    #expect(RenderedPage.uncurated(of: pages) == ["M/A", "M/Article"])
  }

  @Test func `a page without written groups has those of docc, and one with some has to have all`()
    throws
  {
    let byKind = group(of: "M/A/b", generated: true)
    let pages = [
      try page("M", kind: "module", groups: "[\(group(of: "M/A"))]"),
      try page("M/A", groups: "[\(byKind)]"), try page("M/A/b"),
    ]
    #expect(RenderedPage.uncurated(of: pages) == [])
    let some = [
      pages[0], try page("M/A", groups: "[\(group(of: "M/A/c")), \(byKind)]"), pages[2],
      try page("M/A/c"),
    ]
    #expect(RenderedPage.uncurated(of: some) == ["M/A/b"])
  }

  @Test func `what docc adds need not be`() throws {
    let pages = [
      try page("M/Other", role: "collection", kind: "extension"),
      try page(
        "M/A/P-Implementations", role: "collectionGroup", kind: "",
        groups: "[\(group(of: "M/A/b", generated: true))]"),
    ]
    #expect(RenderedPage.uncurated(of: pages) == [])
  }

  @Test func `a collection without links is cut off`() throws {
    let pages = [
      try page("M/Testing", role: "collectionGroup", kind: ""),
      try page("M/List", role: "collectionGroup", kind: "", groups: "[\(group(of: "M/A"))]"),
      try page("M/Article", role: "article", kind: ""),
    ]
    #expect(RenderedPage.cutOff(of: pages) == ["M/Testing"])
  }
}
