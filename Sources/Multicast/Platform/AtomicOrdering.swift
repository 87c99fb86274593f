// The orderings of an ``Atomic``, named as in the standard library. Raw values are those of C.

@usableFromInline
package enum AtomicLoadOrdering: CInt {
  case relaxed = 0
  case acquiring = 2
  case sequentiallyConsistent = 5
}

@usableFromInline
package enum AtomicStoreOrdering: CInt {
  case relaxed = 0
  case releasing = 3
  case sequentiallyConsistent = 5
}

@usableFromInline
package enum AtomicUpdateOrdering: CInt {
  case relaxed = 0
  case acquiring = 2
  case releasing = 3
  case acquiringAndReleasing = 4
  case sequentiallyConsistent = 5
}
