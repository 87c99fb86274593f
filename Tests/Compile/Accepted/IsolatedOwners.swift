// Handlers that take their owner isolated.
import Multicast

actor Store {
  private var numbers: [Int] = []

  func add(_ number: Int) { numbers.append(number) }

  func observe(_ center: MulticastCenter) {
    center.observe(Topic<Int>(), owner: self) { (store: isolated Store, number) in
      store.numbers.append(number)
    }
  }

  nonisolated func observeFromOutside(_ center: MulticastCenter) {
    center.observe(Topic<Int>(), owner: self) { (store: isolated Store, number) in
      store.numbers.append(number)
      store.add(number)
    }
    center.observe(Topic<Int>(), owner: self, id: 1, once: true) {
      (store: isolated Store, number: Int) in store.add(number)
    }
    center.observe(Topic<Int>(), owner: self) { store, number in await store.add(number) }
    center.observe(Topic<Int>(), owner: self) { _, number in print(number) }
  }
}

@MainActor func observe(_ store: Store, _ center: MulticastCenter) {
  center.observe(Topic<Int>(), owner: store) { (store: isolated Store, number) in
    store.add(number)
  }
}
