/// What a center does with a notify inside a notify.
///
/// A *nested* notify is one that is made while the same listener protocol is being delivered to on
/// the same call stack, or, with `awaiting:`, in the same task. A task that a client starts is not
/// nested.
///
/// The policy is about notifies. A post inside a call is never nested: it follows, and may recur
/// 1,000 times whatever the policy is. See <doc:Loops>.
public enum ReentrancyPolicy: Hashable, Sendable {
  /// Refuses a nested notify whose own call site is already delivering: a loop.
  ///
  /// A nested notify from another call site is delivered.
  case refuseLoops

  /// Refuses every nested notify of the same listener protocol, wherever it stands.
  case refuseNesting

  /// Lets a call site be active inside itself up to `depth` times, for recursion that is meant and
  /// ends.
  ///
  /// A depth of 0 is ``refuseLoops``. There is no upper bound: one that the stack cannot hold lets
  /// a loop overflow it. A center or delegate made with a negative depth stops the program.
  case allow(depth: Int)
}
