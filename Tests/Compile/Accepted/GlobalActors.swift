import Multicast

// Global actors of a program's own, in place of the main actor.

@globalActor actor Storage {
  static let shared = Storage()
}

@Storage protocol ShelfProtocol: Sendable {
  func put(_ item: Int)
  func tidy() async
}

@Storage final class Shelf: ShelfProtocol {
  var items: [Int] = []
  let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: ShelfProtocol.self)
  }
  func put(_ item: Int) { items.append(item) }
  func tidy() async {
    center.notify(ShelfProtocol.self) { $0.put(items.count) }
    await center.notify(ShelfProtocol.self) { client in
      client.put(items.count)
      items.removeAll()
      await client.tidy()
    }
  }
}

@Storage func fill(center: MulticastCenter) {
  let shelf = Shelf(center: center)
  center.notify(ShelfProtocol.self, forEach: 1...3) { $0.put($1) }
  print(shelf.items)
}

nonisolated func fillFromOutside(center: MulticastCenter) async {
  await center.notify(ShelfProtocol.self) { client in
    await client.put(1)
    await client.tidy()
  }
}
