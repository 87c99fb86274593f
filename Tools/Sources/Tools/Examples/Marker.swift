import Foundation

/// What the comment before a block says about it: `<!-- example: in Client; continues -->`.
struct Marker: Equatable {
  /// The file of Tests/Examples that the block stands in; nil if it is a file of its own.
  var wrapper: String?

  /// Whether it stands behind the block before it.
  var continues = false

  /// The module without which it is not compiled.
  var module: String?

  /// A part of the error that it gives; nil if it compiles.
  var refusal: String?
}

extension Marker {
  /// The marker of a line; nil if it is not one.
  ///
  /// - Parameter failure: Makes the error that is thrown if a marker says what is not understood.
  init?(of line: String, failure: (String) -> Problem) throws(Problem) {
    let comment = line.trimmingCharacters(in: .whitespaces)
    guard comment.starts(with: /<!--\s*example/) else { return nil }
    guard let match = comment.wholeMatch(of: /<!--\s*example:(?<said>.*?)-->/) else {
      throw failure("a marker is one line, <!-- example: … -->")
    }
    var said = match.said.trimmingPrefix(while: \.isWhitespace)
    repeat {
      // The message ends the marker, and may contain what separates the rest.
      if let refused = said.wholeMatch(of: /does not compile:\s*(.*?)\s*/) {
        guard !refused.1.isEmpty else { throw failure("a marker says no part of the error") }
        refusal = String(refused.1)
        return
      }
      let clause = said.prefix { $0 != ";" }
      said = said.dropFirst(clause.count + 1).trimmingPrefix(while: \.isWhitespace)
      if let wrapped = clause.wholeMatch(of: /in\s+(\w+)\s*/) {
        wrapper = String(wrapped.1)
      } else if let needed = clause.wholeMatch(of: /where\s+(\w+)\s+can\s+be\s+imported\s*/) {
        module = String(needed.1)
      } else if clause.wholeMatch(of: /continues\s*/) != nil {
        continues = true
      } else {
        throw failure("a marker says what is not understood: \(clause)")
      }
    } while !said.isEmpty
  }
}
