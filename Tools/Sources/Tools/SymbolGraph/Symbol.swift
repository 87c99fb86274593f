import Foundation

/// A declaration of a symbol graph.
struct Symbol: Decodable {
  struct Kind: Decodable {
    let identifier: String
  }

  struct Identifier: Decodable {
    let precise: String
  }

  struct Fragment: Decodable {
    let spelling: String
  }

  struct Comment: Decodable {
    struct Line: Decodable {
      let text: String
    }

    let lines: [Line]
  }

  struct Location: Decodable {
    struct Position: Decodable {
      /// Counted from 0.
      let line: Int
    }

    let uri: String
    let position: Position
  }

  struct Availability: Decodable {
    struct Version: Decodable {
      let major: Int
      let minor: Int?
    }

    let domain: String?
    let introduced: Version?
    let deprecated: Version?
    let obsoleted: Version?
    let isUnconditionallyDeprecated: Bool?
    let isUnconditionallyUnavailable: Bool?
  }

  /// What holds for a declaration's generic parameters, or for those of the extension it is in.
  struct Conditions: Decodable {
    let constraints: [SymbolGraph.Constraint]?
  }

  let kind: Kind
  let identifier: Identifier
  let pathComponents: [String]
  let declarationFragments: [Fragment]?
  let docComment: Comment?
  let location: Location?
  let accessLevel: String?
  let availability: [Availability]?
  let swiftGenerics: Conditions?
  let swiftExtension: Conditions?
}

extension Symbol {
  /// Whether it stands for a type of another module that is extended, and is no declaration.
  var isExtension: Bool { kind.identifier.hasPrefix("swift.extension") }

  var isDocumented: Bool {
    docComment?.lines.contains { !$0.text.allSatisfy(\.isWhitespace) } ?? false
  }

  var path: String { pathComponents.joined(separator: ".") }

  /// A problem at the place of the declaration, in the package that is the working directory.
  func problem(_ message: String) -> Problem {
    guard let location, let file = URL(string: location.uri)?.path else {
      return Problem(file: "(unknown)", line: 1, message: message)
    }
    let package = FileManager.default.currentDirectoryPath + "/"
    return Problem(
      file: file.hasPrefix(package) ? String(file.dropFirst(package.count)) : file,
      line: location.position.line + 1, message: message)
  }
}
