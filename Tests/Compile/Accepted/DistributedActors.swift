import Distributed
import Multicast

// Distributed actors are awaited, and each call may fail.

nonisolated protocol WorkerProtocol: DistributedActor
where ActorSystem == LocalTestingDistributedActorSystem {
  distributed func work()
}

nonisolated func work(center: MulticastCenter) async throws {
  try await center.notify((any WorkerProtocol).self) { try await $0.work() }
}
