import Foundation

/// Looks at what symbolic links lead to. They are never followed.
enum LinkTarget {
  /// What is wrong with a link.
  ///
  /// - Parameters:
  ///   - name: The link's name.
  ///   - folder: The number of the descriptor of its folder.
  ///   - inside: This folder and those that it stands in.
  /// - Returns: Nil if it leads to something, and would not lead back to where it stands.
  static func problem(
    with name: Name, in folder: Int32, inside: [FileID]
  ) -> Problem.Kind? {
    do throws(SystemError) {
      let status = try Status(of: name, in: folder, followingLinks: true)
      guard status.kind == .folder, inside.contains(status.id) else { return nil }
      return .linkCycle(target: target(of: name, in: folder))
    } catch {
      return switch error.code {
      case ENOENT, ENOTDIR: .brokenLink(target: target(of: name, in: folder))
      // Links that lead to each other, or one to itself.
      case ELOOP: .linkCycle(target: target(of: name, in: folder))
      default: .unreadable(reason: error.description)
      }
    }
  }

  /// The path that a link holds; an empty one if it cannot be read any more.
  private static func target(of name: Name, in folder: Int32) -> Path {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count =
      (try? callSystem(with: name) {
        Int32(readlinkat(folder, $0, &buffer, buffer.count))
      }) ?? 0
    return Path(buffer.prefix(Int(count)).map(UInt8.init(bitPattern:)))
  }
}
