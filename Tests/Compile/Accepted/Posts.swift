// Posts to protocols, in every isolation.
import Dispatch
import Multicast

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

nonisolated final class Plain: UserProtocol {
  func login(_ id: Int) {}
}

@MainActor final class Screen: ScreenProtocol {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any UserProtocol>()
  let plain = Plain()

  func add(_ queue: DispatchQueue) {
    center.add(self, for: ScreenProtocol.self)
    center.add(plain, for: UserProtocol.self)
    delegates.add(plain, isolation: nil)
  }

  func show(_ id: Int) {}

  func post() async {
    center.post(UserProtocol.self) { $0.login(1) }
    center.post(ScreenProtocol.self) { @MainActor in $0.show(1) }
    center.post(StoreProtocol.self) { await $0.save(1) }
    center.post(StoreProtocol.self) { $0.count(1) }
    await center.postAndWait(UserProtocol.self) { $0.login(1) }
    await center.postAndWait(ScreenProtocol.self) { @MainActor in $0.show(1) }
    await center.postAndWait(StoreProtocol.self) { await $0.save(1) }
    delegates.post { $0.login(1) }
    let called = await delegates.postAndWait { $0.login(1) }
    print(called)
  }
}

actor Session {
  let center = MulticastCenter()
  let plain = Plain()

  func post() async {
    center.add(plain, for: UserProtocol.self)
    center.post(UserProtocol.self) { $0.login(1) }
    center.post(ScreenProtocol.self) { @MainActor in $0.show(1) }
    center.post(StoreProtocol.self) { await $0.save(1) }
    await center.postAndWait(UserProtocol.self) { $0.login(1) }
    await center.postAndWait(ScreenProtocol.self) { @MainActor in $0.show(1) }
    await center.postAndWait(StoreProtocol.self) { await $0.save(1) }
  }
}

nonisolated func post(
  center: MulticastCenter, stores: MulticastDelegate<any StoreProtocol>
) async {
  center.post(UserProtocol.self) { $0.login(1) }
  center.post(ScreenProtocol.self) { @MainActor in $0.show(1) }
  center.post(StoreProtocol.self) { @MainActor in
    $0.count(1)
    await $0.save(1)
  }
  stores.post { await $0.save(1) }
  stores.post { $0.count(1) }
  await stores.postAndWait { await $0.save(1) }
  await stores.postAndWait { $0.count(1) }
  await center.postAndWait(UserProtocol.self) { $0.login(1) }
}

nonisolated func post(from fileID: StaticString = #fileID, line: Int = #line, column: Int = #column)
{
  let center = MulticastCenter()
  center.post(UserProtocol.self, fileID: fileID, line: line, column: column) { $0.login(1) }
}
