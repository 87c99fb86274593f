/// Unique names of types.
///
/// A name omits its module unless another type shares the name. The name of a private type then includes its
/// context, in a form that is valid for one run of the program.
struct TypeNames {
  private let names: [TypeIdentity: String]

  init(_ types: some Sequence<TypeIdentity>) {
    var names: [TypeIdentity: String] = [:]
    for (name, types) in Dictionary(grouping: Set(types), by: { String(describing: $0.type) }) {
      for type in types {
        names[type] = types.count == 1 ? name : String(reflecting: type.type)
      }
    }
    self.names = names
  }

  subscript(type: TypeIdentity) -> String { names[type] ?? String(reflecting: type.type) }
}
