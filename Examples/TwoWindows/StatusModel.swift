import Multicast
import Observation

/// The view model of a window's status bar.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@Observable @MainActor final class StatusModel: WindowListener {
  private(set) var words = 0
  private(set) var isSaved = true
  private var text = ""

  /// The registration ends with the model, so nothing has to be removed.
  init(_ window: Window) { window.listeners.add(self) }

  func textDidChange(to text: String) {
    self.text = text
    words = text.split(separator: " ").count
    isSaved = false
  }

  func didSave(_ text: String) {
    // The user may have typed since.
    isSaved = text == self.text
  }
}

/// Prints a window's status, and again after each change. A SwiftUI view would read the model in its `body`.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor final class StatusBar {
  private let name: String
  private let model: StatusModel

  init(_ window: Window) {
    name = window.name
    model = StatusModel(window)
    draw()
  }

  private func draw() {
    withObservationTracking {
      print("\(name): \(model.words) words, \(model.isSaved ? "saved" : "edited")")
    } onChange: {
      // Called before the change, so draw in a task, which runs after it.
      Task { @MainActor [weak self] in self?.draw() }
    }
  }
}
