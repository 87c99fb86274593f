/// Equal elements in succession.
struct RunLength<Element: Equatable> {
  let element: Element
  fileprivate(set) var count = 1

  fileprivate init(_ element: Element) {
    self.element = element
  }
}

extension Array {
  mutating func append<Value>(joining value: Value) where Element == RunLength<Value> {
    if let last = indices.last, self[last].element == value {
      self[last].count += 1
    } else {
      append(RunLength(value))
    }
  }
}
