import Foundation

/// Finds what is public and has no documentation, or no place in it:
///
///     check-documentation <graphs> <archive>
///
/// Every declaration has to have a comment of its own, and every page has to stand in a topic group
/// that somebody has written, and to be there as a whole.
struct CheckDocumentation {
  private let graphs: URL
  private let archive: URL

  init(_ arguments: inout Arguments) throws {
    graphs = URL(filePath: try arguments.next("the folder of symbol graphs"))
    archive = URL(filePath: try arguments.next("the archive"))
  }

  func run() throws {
    let symbols = try SymbolGraph.all(in: graphs).flatMap(\.symbols)
    let pages = try RenderedPage.all(in: archive)
    guard !symbols.isEmpty, !pages.isEmpty else {
      throw UsageError("there is nothing in \(graphs.path) or \(archive.path)")
    }
    let problems =
      symbols.filter { !$0.isExtension && !$0.isDocumented }
      .map { $0.problem("\($0.path) is public, and has no documentation comment").description }
      .sorted()
      + RenderedPage.uncurated(of: pages).map { "error: \($0) stands in no topic group" }
      + RenderedPage.cutOff(of: pages).map {
        "error: \($0) ends where its section \"Topics\" begins, which docc takes for links; rename it"
      }
    guard problems.isEmpty else { throw Problems(problems) }
  }
}
