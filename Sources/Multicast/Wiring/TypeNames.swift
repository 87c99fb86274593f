/// Unique names of types.
///
/// A name omits its module, unless another type has the same name. The name of a private type then also tells
/// where the type is declared, in a form that holds for one run of the program.
struct TypeNames {
  private let names: [TypeIdentity: String]

  /// - Parameter types: All types that have to be told apart.
  init(_ types: some Sequence<TypeIdentity>) {
    var names: [TypeIdentity: String] = [:]
    for (name, types) in Dictionary(grouping: Set(types), by: { String(describing: $0.type) }) {
      for type in types {
        names[type] = types.count == 1 ? name : String(reflecting: type.type)
      }
    }
    self.names = names
  }

  /// The name of one of these types.
  subscript(type: TypeIdentity) -> String { names[type] ?? String(reflecting: type.type) }
}
