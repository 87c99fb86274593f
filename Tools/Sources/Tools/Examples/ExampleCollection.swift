/// The examples of all files, each as the program that is to be compiled.
struct ExampleCollection {
  struct Example: Equatable {
    /// Where the block begins, `README.md:17`.
    let place: String
    let program: String

    /// A part of the error that it has to give; nil if it has to compile.
    let refusal: String?
  }

  private(set) var examples: [Example] = []
  private(set) var problems: [Problem] = []

  private let wrappers: [String: Wrapper]
  private var used: Set<String> = []

  init(wrappers: [String: Wrapper]) {
    self.wrappers = wrappers
  }

  /// The names of wrappers that no block stands in.
  var unusedWrappers: [String] { wrappers.keys.filter { !used.contains($0) }.sorted() }

  /// Adds the blocks of a file.
  mutating func add(_ text: String, file: String) {
    for document in Document.all(in: text, file: file) {
      do {
        for chain in try document.codeBlocks().chains { try add(chain) }
      } catch {
        problems.append(error)
      }
    }
  }

  /// Adds a block together with those that continue it, one behind the other.
  private mutating func add(_ chain: [CodeBlock]) throws(Problem) {
    guard let block = chain.last, let first = chain.first else { return }
    func problem(_ message: String) -> Problem {
      Problem(file: block.file, line: block.line, message: message)
    }
    guard !first.marker.continues else { throw problem("there is no block that this continues") }
    guard chain.dropLast().allSatisfy({ $0.marker.refusal == nil }) else {
      throw problem("this continues a block that does not compile")
    }
    guard chain.dropFirst().allSatisfy({ $0.marker.wrapper == nil }) else {
      throw problem("a block that continues stands where the block before it does")
    }
    var wrapper = Wrapper.none
    if let name = first.marker.wrapper {
      guard let found = wrappers[name] else { throw problem("there is no wrapper \(name)") }
      wrapper = found
      used.insert(name)
    }
    examples.append(
      Example(
        place: "\(block.file):\(block.line)", program: wrapper.program(of: chain),
        refusal: block.marker.refusal))
  }
}

extension [CodeBlock] {
  /// Each block with those that continue it, and that are compiled together with it only.
  fileprivate var chains: [[CodeBlock]] {
    reduce(into: []) { chains, block in
      if block.marker.continues, !chains.isEmpty {
        chains[chains.count - 1].append(block)
      } else {
        chains.append([block])
      }
    }
  }
}
