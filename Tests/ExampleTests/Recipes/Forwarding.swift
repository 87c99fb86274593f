import Multicast

// What another module declares:
@MainActor protocol ScrollDelegate: AnyObject {
  func didScroll(to offset: Double)
  func shouldScrollToTop() -> Bool
  func titleForScrollBar() -> String?
}
extension ScrollDelegate {
  func didScroll(to offset: Double) {}
  func shouldScrollToTop() -> Bool { true }
  func titleForScrollBar() -> String? { nil }
}
@MainActor final class ScrollView {
  weak var delegate: (any ScrollDelegate)?
}

// What you write:
@MainActor final class ScrollForwarder: ScrollDelegate {
  let delegates = MulticastDelegate<any ScrollDelegate>()

  func didScroll(to offset: Double) {
    delegates.notify { $0.didScroll(to: offset) }
  }
  func shouldScrollToTop() -> Bool {
    delegates.map { $0.shouldScrollToTop() }
      .allSatisfy { $0 }
  }
  func titleForScrollBar() -> String? {
    delegates.map { $0.titleForScrollBar() }
      .compactMap { $0 }.first
  }
}

@MainActor final class Toolbar: ScrollDelegate {
  private(set) var isCompact = false

  func didScroll(to offset: Double) {
    isCompact = offset > 40
  }
}

@MainActor final class ScrollScreen {
  let scrollView = ScrollView()
  // Own it, because the view holds its delegate weakly.
  let forwarder = ScrollForwarder()
  let toolbar = Toolbar()

  init() {
    scrollView.delegate = forwarder
    forwarder.delegates.add(toolbar)
  }
}
