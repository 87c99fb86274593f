@testable import Multicast

/// A client that is told from others by a number.
final class Numbered: Sendable {
  let name: Int
  init(_ name: Int) { self.name = name }
}

/// What groups are of.
final class Subject: Sendable {}

/// A companion that says when it ends.
final class Note: Sendable {
  let text: String
  private let atEnd: @Sendable () -> Void
  init(_ text: String, atEnd: @escaping @Sendable () -> Void = {}) {
    self.text = text
    self.atEnd = atEnd
  }
  deinit { atEnd() }
}

extension ClientList {
  convenience init(companions: Bool = false) {
    self.init(stride: WeakBox.stride(for: AnyObject.self), hasCompanions: companions)
  }

  @discardableResult
  func add(_ client: Numbered, in subject: Subject? = nil) -> Bool {
    let bits = client as AnyObject
    return withUnsafePointer(to: bits) { add(client, bits: UnsafeRawPointer($0), in: subject) }
  }

  /// Adds clients with the names in a range.
  func add(_ names: Range<Int>, in subject: Subject? = nil) -> [Numbered] {
    names.map { name in
      let client = Numbered(name)
      add(client, in: subject)
      return client
    }
  }

  func group(of subject: Subject) -> ClientGroup? {
    groups.first { $0.subject === subject }
  }

  /// The names of the clients alive that a walk meets.
  func beginWalk(in group: ClientGroup) -> Walk { beginWalk(inGroupOf: group.subject) }

  func names(in group: ClientGroup) -> [Int] {
    var walk = beginWalk(in: group)
    return Self.names(&walk)
  }

  func names() -> [Int] {
    var walk = beginWalk()
    return Self.names(&walk)
  }

  static func names(_ walk: inout Walk) -> [Int] {
    var names: [Int] = []
    while let box = walk.next() {
      if let client = box.load() as? Numbered {
        names.append(client.name)
      } else {
        walk.noteDead(box)
      }
    }
    return names
  }

  /// The companions' texts that a walk meets.
  func texts(in group: ClientGroup? = nil) -> String {
    var walk = group.map { beginWalk(in: $0) } ?? beginWalk()
    return Self.texts(&walk)
  }

  static func texts(_ walk: inout Walk) -> String {
    var texts: [String] = []
    while let box = walk.next() {
      guard box.load() != nil else { continue }
      texts.append(box.withCompanion(as: Note.self) { $0.text } ?? "-")
    }
    return texts.joined(separator: " ")
  }

  /// The key of the note with this text that a client has.
  static func key(_ owner: AnyObject, _ text: String) -> ClientKey {
    ClientKey(ObjectIdentifier(owner)) { box in
      box.withCompanion(as: Note.self) { $0.text == text } ?? false
    }
  }
}
