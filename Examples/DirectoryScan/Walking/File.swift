/// A file that was found.
struct File: Sendable {
  let path: Path
  let bytes: Int
  let id: FileID
}
