import Foundation

/// Writes the Swift blocks of files into a folder, to be compiled:
///
///     extract-examples <wrappers> <output> [--all] <file>...
///
/// Of each block there is `<number>.swift`, `<number>.place`, and `<number>.refusal` if it must not
/// compile. With `--all`, every wrapper has to be used. Prints what is wrong with blocks and markers,
/// and then exits with 1.
struct ExtractExamples {
  private let wrappers: URL
  private let output: URL
  private let mustUseAllWrappers: Bool
  private let files: [String]

  init(_ arguments: inout Arguments) throws {
    wrappers = URL(filePath: try arguments.next("the folder of wrappers"))
    output = URL(filePath: try arguments.next("the folder for the output"))
    let files = arguments.remaining()
    mustUseAllWrappers = files.first == "--all"
    self.files = files.filter { $0 != "--all" }
  }

  func run() throws {
    var collection = ExampleCollection(wrappers: try readWrappers())
    for file in files {
      collection.add(try String(contentsOfFile: file, encoding: .utf8), file: file)
    }
    for (index, example) in collection.examples.enumerated() {
      let number = String(index + 1)
      let name = String(repeating: "0", count: max(0, 3 - number.count)) + number
      func write(_ text: String, _ kind: String) throws {
        let file = output.appending(path: "\(name).\(kind)")
        try text.write(to: file, atomically: false, encoding: .utf8)
      }
      try write(example.program, "swift")
      try write(example.place, "place")
      if let refusal = example.refusal { try write(refusal, "refusal") }
    }
    var problems = collection.problems.map(\.description)
    if mustUseAllWrappers {
      problems += collection.unusedWrappers.map {
        "\(wrappers.relativePath)/\($0).swift:1: error: no block stands in this wrapper"
      }
    }
    guard problems.isEmpty else { throw Problems(problems) }
  }

  private func readWrappers() throws -> [String: Wrapper] {
    let files = try FileManager.default.contentsOfDirectory(
      at: wrappers, includingPropertiesForKeys: nil)
    var found: [String: Wrapper] = [:]
    for file in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      found[file.deletingPathExtension().lastPathComponent] = try Wrapper(
        text, file: "\(wrappers.relativePath)/\(file.lastPathComponent)")
    }
    return found
  }
}
