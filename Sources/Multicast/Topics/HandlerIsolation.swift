/// Where a topic's handler runs.
enum HandlerIsolation: Hashable, Sendable {
  case postingThread
  case actor(TypeIdentity)
  case queue(label: String)

  /// In a task, and there in an actor if the handler belongs to one.
  case task(actor: TypeIdentity?)
}
