@testable import Multicast

/// A client that is told from others by a number.
final class Numbered: Sendable {
  let name: Int
  init(_ name: Int) { self.name = name }
}

/// Stands for the mailbox of a home.
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
  func add(_ client: Numbered, at home: Subject? = nil) -> Bool {
    let bits = client as AnyObject
    return withUnsafePointer(to: bits) { bits in
      add(client, bits: UnsafeRawPointer(bits), at: home) ?? false
    }
  }

  /// Adds clients with the names in a range.
  func add(_ names: Range<Int>, at home: Subject? = nil) -> [Numbered] {
    names.map { name in
      let client = Numbered(name)
      add(client, at: home)
      return client
    }
  }

  /// Adds a companion, and makes room for it.
  func place(
    _ companion: Note, of owner: AnyObject, at home: Subject? = nil,
    expecting known: [Companion]? = nil, replacing old: Note? = nil
  ) -> Placement {
    while true {
      let (placement, leftovers): (Placement?, Leftovers) = place(
        companion, of: owner, at: home as (AnyObject & Sendable)?, expecting: known, replacing: old)
      finish(leftovers)
      if let placement { return placement }
      makeRoom()
    }
  }

  var nextNumber: UInt64 { audience?.limit ?? 0 }

  /// The homes with clients.
  var homes: [Residents] { (audience?.residents ?? []).filter { $0.count > 0 } }

  func residents(of home: Subject) -> Residents? { homes.first { $0.mailbox === home } }

  /// The names of the clients alive that a walk meets.
  func names(of residents: Residents) -> [Int] {
    var walk = beginWalk(at: residents.mailbox)
    return Self.names(&walk)
  }

  func names() -> [Int] {
    var walk = beginWalk()
    return Self.names(&walk)
  }

  static func names(_ walk: inout Walk) -> [Int] {
    var names: [Int] = []
    walk.forEach { box in
      guard let client = box.load() as? Numbered else { return .dead }
      names.append(client.name)
      return .called
    }
    return names
  }

  /// The companions' texts that a walk meets.
  func texts(of residents: Residents? = nil) -> String {
    var walk = residents.map { beginWalk(at: $0.mailbox) } ?? beginWalk()
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
}
