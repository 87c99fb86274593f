import Foundation

/// Does work in parallel, on a few pieces at a time; each may leave more of it.
///
/// The last piece that was left is next, so that few of them wait. When the task is cancelled, no
/// further piece is begun.
///
/// - Parameters:
///   - pieces: What to begin with; the last one is first.
///   - work: Is called with each piece, in a task that is isolated to no actor.
///   - take: Is called with what came of each, in the caller's isolation, and returns the pieces that
///     it leaves.
///   - isolation: The actor that the caller runs in; leave it to its default.
func inParallel<Piece: Sendable, Outcome: Sendable>(
  _ pieces: [Piece], work: @escaping @Sendable (Piece) -> Outcome,
  isolation: isolated (any Actor)? = #isolation, take: (Outcome) -> [Piece]
) async {
  // Twice as many as there are processors, so that none waits while an outcome is taken.
  let atOnce = 2 * ProcessInfo.processInfo.activeProcessorCount
  var waiting = pieces
  await withTaskGroup(of: Outcome.self) { group in
    // A closure runs in this actor only if it captures it.
    _ = isolation
    var underWay = 0
    while true {
      while underWay < atOnce, !Task.isCancelled, let piece = waiting.popLast() {
        group.addTask { work(piece) }
        underWay += 1
      }
      guard let outcome = await group.next() else { return }
      underWay -= 1
      waiting += take(outcome)
    }
  }
}
