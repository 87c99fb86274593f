/// A folder that was found, and of which something is still to be read.
struct UnreadFolder: Sendable {
  let path: Path

  /// The folders that it stands in: a link that leads to one of them makes a cycle.
  let above: [FileID]

  /// The names in it that are left; nil if it was not opened yet.
  var names: ArraySlice<Name>?
}
