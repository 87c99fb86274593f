import Dispatch

enum Stopwatch {
  /// The nanoseconds that `work` takes.
  static func measure(_ work: () -> Void) -> Double {
    let begin = DispatchTime.now().uptimeNanoseconds
    work()
    return Double(DispatchTime.now().uptimeNanoseconds - begin)
  }
}
