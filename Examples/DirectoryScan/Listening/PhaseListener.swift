/// What may take its time after the walk. Clients are awaited, one after the other.
///
/// The methods run where they are awaited, in the actor `Scan`, so that clients need not be `Sendable`.
protocol PhaseListener: AnyObject {
  /// The whole tree was walked over; not called if the scan was interrupted.
  nonisolated(nonsending) func walkDidEnd() async
  /// Nothing more is going to be announced.
  nonisolated(nonsending) func scanDidEnd() async
}

extension PhaseListener {
  nonisolated(nonsending) func walkDidEnd() async {}
  nonisolated(nonsending) func scanDidEnd() async {}
}
