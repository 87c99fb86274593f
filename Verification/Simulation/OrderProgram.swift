/// Threads that use a registry, a list and a handler, and share nothing else, for the thread sanitizer.
final class OrderProgram: Program, @unchecked Sendable {
  override static var operations: [String] {
    [
      "ask", "ask", "ask", "find", "find", "find", "add", "remove", "walk", "home", "audience",
      "take",
      "last", "cancel", "replace",
    ]
  }

  private let table = RegistryTable()
  private let list = ClientList(stride: WeakBox.stride(for: AnyObject.self))
  private let clients = (0..<5).map { NamedClient($0) }
  private let homes = [Somewhere(), Somewhere()]
  private let handler = TopicHandler.called { _, _ in }
  private let observer: TopicObserver

  required init(seed: UInt64) {
    observer = TopicObserver(id: nil, once: seed % 2 == 0, handler, in: nil, at: nil)
    super.init(seed: seed)
    for client in clients { add(client) }
  }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0..<5, using: &random)
    switch operation {
    case "ask", "find": look(number, inserts: operation == "ask")
    case "add": add(clients[number])
    case "remove": _ = list.remove(clients[number])
    case "walk": walk(list.beginWalk())
    case "home": walk(list.beginWalk(at: homes[number % 2]))
    case "audience": if list.audience?.count ?? 9 > 5 { fault("too many clients") }
    case "take": _ = observer.take(.home(before: 1))
    case "last": _ = observer.takePerhapsLast(.home(before: 1))
    case "cancel": observer.cancel(version: number)
    default: _ = observer.replaceHandler(with: handler, once: number == 1, latest: nil)
    }
  }

  private func look(_ number: Int, inserts: Bool) {
    let key = ObjectIdentifier(RegistryProgram.keys[number])
    let place =
      inserts ? table.find(key) { RegistryProgram.Registry(number) } : table.find(key)
    guard let place else { return }
    let found = place.assumingMemoryBound(to: RegistryProgram.Registry.self).pointee.key
    if found != number { fault("key \(number) has the registry of \(found)") }
  }

  private func add(_ client: NamedClient) {
    let bits = client as AnyObject
    withUnsafePointer(to: bits) {
      _ = list.add(client, bits: UnsafeRawPointer($0), at: homes[client.name % 2])
    }
  }

  private func walk(_ walk: consuming Walk) {
    walk.forEach { box in
      guard let client = box.load() as? NamedClient else { return .dead }
      // The bits, the number and the home are plain memory.
      let bits = box.bits(as: AnyObject.self).pointee.borrow { ObjectIdentifier($0) }
      let isRight = bits == ObjectIdentifier(client) && box.number > 0 && box.hasHome
      if !isRight { fault("client \(client.name) has other bits") }
      return .called
    }
  }
}
