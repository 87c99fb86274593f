final class TopicStress {
  init(seed: UInt64) {}
  var faults: [String] { [] }
  var summary: String { "" }
  func run(for duration: Duration) {}
}
