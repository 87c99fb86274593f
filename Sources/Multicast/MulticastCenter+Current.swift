extension MulticastCenter {
  /// The center of this task: ``default``, unless a test gives its own one.
  ///
  /// <!-- example: in Settling -->
  /// ```swift
  /// nonisolated struct AccountStore: Sendable {
  ///   let center: MulticastCenter
  ///   init(center: MulticastCenter = .current) { self.center = center }
  /// }
  /// ```
  ///
  /// Read it once, where an object is made, and keep the center. It is a task-local value. Child tasks and
  /// `Task { }` inherit it. `Task.detached`, blocks on queues, and calls in other homes see ``default``.
  ///
  /// - Complexity: O(1), with a look-up of a task-local value.
  public static var current: MulticastCenter { ofTask }

  /// The task-local value. A test's trait binds it.
  @TaskLocal package static var ofTask: MulticastCenter = .default
}
