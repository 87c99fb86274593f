import Foundation

/// Prints a library's public interface, to be compared with what it was:
///
///     list-interface <graphs>
struct ListInterface {
  private let graphs: URL

  init(_ arguments: inout Arguments) throws {
    graphs = URL(filePath: try arguments.next("the folder of symbol graphs"))
  }

  func run() throws {
    for line in Interface(try SymbolGraph.all(in: graphs)).lines { print(line) }
  }
}
