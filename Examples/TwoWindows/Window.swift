import Multicast

/// The events of a window, for its own listeners. Every method has a default.
@MainActor protocol WindowListener {
  func textDidChange(to text: String)
  func didSave(_ text: String)
}

extension WindowListener {
  func textDidChange(to text: String) {}
  func didSave(_ text: String) {}
}

/// A window with a text. It knows none of its listeners.
@MainActor final class Window {
  let name: String

  /// Calls the listeners of this window, and of no other one.
  let listeners = MulticastDelegate<any WindowListener>()

  var text = "" {
    didSet { listeners.notify { $0.textDidChange(to: text) } }
  }

  init(name: String) { self.name = name }
}
