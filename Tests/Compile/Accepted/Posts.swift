import Dispatch
import Multicast

// Posts to protocols, in every isolation, and clients whose home is a queue.

nonisolated protocol UserProtocol {
  func login(_ id: Int)
}

@MainActor protocol ScreenProtocol {
  func show(_ id: Int)
}

nonisolated protocol StoreProtocol: Sendable {
  func save(_ id: Int) async
  func count(_ id: Int)
}

nonisolated final class Client: UserProtocol {
  func login(_ id: Int) {}
}

@MainActor final class Screen: ScreenProtocol {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any UserProtocol>()
  let client = Client()

  func show(_ id: Int) {}

  func post() async {
    center.add(self, for: ScreenProtocol.self)
    center.add(client, for: UserProtocol.self)
    delegates.add(client, isolation: nil)
    center.post(UserProtocol.self) { $0.login(1) }
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    center.post(StoreProtocol.self, awaiting: { await $0.save(1) })
    center.post(StoreProtocol.self) { $0.count(1) }
    await center.postOnMain(ScreenProtocol.self) { $0.show(1) }.delivered()
    await center.post(StoreProtocol.self, awaiting: { await $0.save(1) }).delivered()
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    center.postOnMain(UserProtocol.self) { $0.login(1) }
    await center.postOnMain(ScreenProtocol.self) { $0.show(1) }.delivered()
    delegates.post { $0.login(1) }
    delegates.postOnMain { $0.login(1) }
    print(await delegates.post { $0.login(1) }.delivered())
  }
}

actor Session {
  let center = MulticastCenter()
  let client = Client()

  func post() async {
    center.add(client, for: UserProtocol.self)
    center.post(UserProtocol.self) { $0.login(1) }
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    center.post(StoreProtocol.self, awaiting: { await $0.save(1) })
    center.postOnMain(ScreenProtocol.self) { $0.show(1) }
    await center.postOnMain(ScreenProtocol.self) { $0.show(1) }.delivered()
    await center.post(UserProtocol.self) { $0.login(1) }.delivered()
    await center.postOnMain(ScreenProtocol.self) { $0.show(1) }.delivered()
    await center.post(StoreProtocol.self, awaiting: { await $0.save(1) }).delivered()
  }
}

nonisolated func post(
  center: MulticastCenter, stores: MulticastDelegate<any StoreProtocol>, line: Int = #line
) async {
  center.post(UserProtocol.self, fileID: #fileID, line: line, column: 1) { $0.login(1) }
  center.postOnMain(ScreenProtocol.self) { $0.show(1) }
  center.postOnMain(ScreenProtocol.self, line: line) { $0.show(1) }
  await center.postOnMain(ScreenProtocol.self) { $0.show(1) }.delivered()
  center.post(
    StoreProtocol.self,
    awaiting: { @MainActor in
      $0.count(1)
      await $0.save(1)
    })
  stores.post(awaiting: { await $0.save(1) })
  stores.post { await $0.save(1) }
  center.post(StoreProtocol.self) { await $0.save(1) }
  stores.post { $0.count(1) }
  await stores.post(awaiting: { await $0.save(1) }).delivered()
  await stores.post { $0.count(1) }.delivered()
  await center.post(UserProtocol.self) { $0.login(1) }.delivered()
}

nonisolated func add(
  _ store: any StoreProtocol, _ client: sending Client, center: MulticastCenter,
  stores: MulticastDelegate<any StoreProtocol>, queue: DispatchQueue
) {
  center.add(store, for: StoreProtocol.self, on: queue)
  stores.add(store, on: .main)
  center.add(client, for: UserProtocol.self, on: queue)
  center.add(client, for: UserProtocol.self, isolation: nil)
}
