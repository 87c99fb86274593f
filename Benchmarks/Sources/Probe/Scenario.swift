/// A way to deliver whose calls are counted.
enum Scenario: String, CaseIterable {
  case classBound = "class-bound"
  case opaque
  case topic
  case post
  case batchClassBound = "batch-class-bound"
  case batchOpaque = "batch-opaque"

  // What a batch is measured against.
  case strongClassBound = "strong-class-bound"
  case strongOpaque = "strong-opaque"
}
