import Multicast

@MainActor protocol HeadingListener {
  func headingChanged(to degrees: Double)
}

@MainActor final class Compass {
  private let listeners =
    MulticastDelegate<any HeadingListener>()
  private(set) var isRunning = false

  func add(_ listener: any HeadingListener) {
    listeners.add(listener)
    isRunning = true  // start the hardware
  }

  /// The hardware calls this with each reading.
  func received(_ degrees: Double) {
    let called = listeners.notify {
      $0.headingChanged(to: degrees)
    }
    if called == 0, listeners.isEmpty {
      isRunning = false  // stop the hardware
    }
  }
}
