/// What a center does with a nested `notify`.
///
/// A `notify` is *nested* if the same listener protocol is being delivered on the same call stack, or in the
/// same task with `awaiting:`. A `post` is not refused for being nested: see <doc:Loops>.
public enum ReentrancyPolicy: Hashable, Sendable {
  /// Refuses a nested `notify` whose own call site is already delivering.
  ///
  /// A nested `notify` from another call site is delivered. After 1,000 of these that are nested three deep
  /// or deeper under one outermost `notify`, the next is refused, too.
  case refuseLoops

  /// Refuses every nested `notify` of the same listener protocol.
  case refuseNesting

  /// Allows a call site to be active inside itself up to `depth` times, for recursion that is meant and ends.
  ///
  /// A depth of 0 is ``refuseLoops``. A negative depth stops the program. A depth that the stack cannot hold
  /// lets a loop overflow it. Nested deliveries are not limited to 1,000, so a loop through several call sites may
  /// take very long.
  case allow(depth: Int)
}
