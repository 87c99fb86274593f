import Multicast

/// The message that the whole app receives.
struct SavedFile: Sendable {
  let name: String
}

extension Topic where Message == SavedFile {
  static var saved: Self { Topic("saved") }
}

/// Saves texts in the background. It knows neither the windows nor the rest of the app.
actor SaveService {
  private let center: MulticastCenter
  private var files: [String: String] = [:]

  init(center: MulticastCenter) { self.center = center }

  /// Saves a text, and returns when the listeners of its window and then the rest of the app have been called.
  ///
  /// The delegate may be used on any thread. The window may be deallocated meanwhile; the post then calls nothing.
  func save(
    _ text: String, as name: String, for listeners: MulticastDelegate<any WindowListener>
  ) async {
    files[name] = text
    // The home of the listeners is the main actor, so this actor must not call them itself.
    await listeners.postOnMain { $0.didSave(text) }.delivered()
    await center.post(.saved, SavedFile(name: name)).delivered()
  }
}
