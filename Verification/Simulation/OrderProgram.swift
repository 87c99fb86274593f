/// Threads that use a registry, a list, or handlers, and share nothing else, for the thread sanitizer.
///
/// A program uses one of them, so that its threads meet often and learn little of each other elsewhere.
final class OrderProgram: Program, @unchecked Sendable {
  override static var operations: [String] { ["use", "use", "look"] }

  private static let uses = [
    ["ask", "ask", "find"], ["add", "remove", "remove", "clear"],
    ["take", "last", "cancel", "replace", "place", "number", "withdraw"],
  ]
  private static let looks = [["find"], ["walk", "home", "audience"], ["known", "companions"]]

  private let part: Int
  private let table = RegistryTable()
  private let list = ClientList(stride: WeakBox.stride(for: AnyObject.self))
  private let clients = (0..<5).map { NamedClient($0) }
  private let homes = [Somewhere(), Somewhere()]
  private let handlers = ClientList(
    stride: WeakBox.stride(for: AnyObject.self), hasCompanions: true)
  private let notes = (0..<5).map { _ in Somewhere() }
  private let handler = TopicHandler.called { _, _ in }
  private let observer: TopicObserver

  required init(seed: UInt64) {
    part = Int(seed % 3)
    observer = TopicObserver(id: nil, once: seed % 2 == 0, handler, at: nil)
    super.init(seed: seed)
    // The next one grows the table or the list, or fits in.
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
    case "walk": walk(list.beginWalk())
    case "home": walk(list.beginWalk(at: homes[number % 2]))
    case "audience": if list.audience?.count ?? 9 > 5 { fault("too many clients") }
    case "take": _ = observer.take(.home(before: 1))
    case "last": _ = observer.takePerhapsLast(.home(before: 1))
    case "cancel": observer.cancel(version: UInt32(number))
    case "replace": _ = observer.replaceHandler(with: handler, once: number == 1, latest: nil)
    case "place": place(number)
    case "number": _ = handlers.takeNumber()
    case "withdraw": _ = handlers.removeAll(of: clients[number]) { _ in true }
    case "known": _ = handlers.registration(of: notes[number], owner: clients[number])
    default: if handlers.companions(of: clients[number]).count > 20 { fault("too many companions") }
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

  private func place(_ number: Int) {
    let (placement, leftovers) = handlers.place(notes[number], of: clients[number], at: nil)
    handlers.finish(leftovers)
    if placement == nil { handlers.makeRoom() }
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
