struct TypeIdentity: Hashable, Sendable {
  let type: any Any.Type

  init(_ type: any Any.Type) {
    self.type = type
  }

  static func == (one: Self, other: Self) -> Bool { one.type == other.type }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(type)) }
}
