/// Threads that use a registry, a list, or handlers, and share nothing else, for the thread sanitizer.
///
/// A program uses only one of them, so that its threads meet often and learn little of each other in other ways.
final class OrderProgram: Program, @unchecked Sendable {
  override static var operations: [String] { ["use", "use", "look"] }

  private static let uses = [
    ["ask", "ask", "find"], ["add", "remove", "remove", "clear"],
    ["take", "cancel", "replace", "place", "withdraw"],
  ]
  private static let looks = [["find"], ["walk", "home", "contains"], ["known", "boxes"]]

  private let part: Int
  private let table = RegistryTable()
  private let list = ClientList(.listener(AnyObject.self))
  private let clients = (0..<5).map { NamedClient($0) }
  private let homes = Mailbox.two
  private let handlers = ClientList(.listener(AnyObject.self))
  private let handler: Handler
  private let observer: HandlerBox
  private let post: Post

  required init(seed: UInt64) {
    part = Int(seed % 3)
    handler = Handler(
      .called { _, _ in }, once: seed % 2 == 0, newestOnly: false, at: CallSite())
    observer = HandlerBox(of: clients[0], handler, at: nil)
    post = Post(to: handlers, from: CallSite())
    super.init(seed: seed)
    // The next operation grows the table or the list, or needs no more room.
    for number in 0..<Int.random(in: 0...5, using: &generator) {
      switch part {
      case 0: look(number, inserts: true)
      case 1: add(clients[number])
      default: place(number)
      }
    }
  }

  override func perform(_ operation: String, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0..<5, using: &random)
    let kinds = operation == "use" ? Self.uses : Self.looks
    switch kinds[part].randomElement(using: &random)! {
    case "ask": look(number, inserts: true)
    case "find": for number in 0..<5 { look(number, inserts: false) }
    case "add": add(clients[number])
    case "remove": _ = list.remove(clients[number])
    case "clear": list.removeAll()
    case "walk": walk(list.boxes)
    case "home": for residents in list.roster.groups { walk(residents.boxes) }
    case "contains": _ = list.contains(clients[number])
    case "take": _ = observer.receive(post)
    case "cancel": _ = observer.takeHandler(version: UInt32(number))
    case "replace": _ = observer.replaceHandler(with: handler, storedNumber: nil)
    case "place": place(number)
    case "withdraw": handlers.removeAll(of: clients[number])
    case "known": _ = observer.isActive
    default: if handlers.boxes.count > 40 { fault("too many boxes") }
    }
  }

  private func look(_ number: Int, inserts: Bool) {
    let key = ObjectIdentifier(RegistryProgram.keys[number])
    let place =
      inserts ? table.findOrAdd(key) { RegistryProgram.Registry(number) } : table.find(key)
    guard let place else { return }
    let found = place.assumingMemoryBound(to: RegistryProgram.Registry.self).pointee.key
    if found != number { fault("key \(number) has the registry of \(found)") }
  }

  private func add(_ client: NamedClient) {
    _ = list.add(ClientBox<AnyObject>(client, client, at: homes[client.name % 2]))
  }

  private func place(_ number: Int) {
    let box = HandlerBox(of: clients[number], id: number, handler, at: nil)
    let known = handlers.boxes(withID: box.idHash)
    if handlers.register(box, among: known, replacing: known.first) == .full {
      _ = handlers.makeRoom()
    }
  }

  private func walk(_ boxes: Boxes) {
    list.forEach(in: boxes) { box in
      guard let client = box.load() as? NamedClient else { return .gone }
      // The bits and the home are plain memory.
      let bits = unsafeDowncast(box, to: ClientBox<AnyObject>.self).value
      if bits !== client || box.home !== homes[client.name % 2] {
        fault("client \(client.name) has other bits")
      }
      return .called
    }
  }
}
