import Multicast

/// Two windows, each with a delegate for its own listeners, and a service that saves in the background.
@main
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor enum TwoWindows {
  static func main() async {
    // One center for what concerns the whole app. Pass it on, so that a test can pass another one.
    let center = MulticastCenter()
    let service = SaveService(center: center)
    let recentFiles = RecentFiles(center: center)

    // Each status bar receives only the events of its own window.
    let draft = Scene(name: "Draft")
    var letter: Scene? = Scene(name: "Letter")
    draft.window.text = "Dear all,"
    letter?.window.text = "My dear friend,"

    // The service posts to the listeners of the draft, and to the whole app.
    await draft.save(with: service).value

    // The letter is closed while it is saved. Its listeners are gone; the rest of the app still receives the event.
    let saving = letter?.save(with: service)
    letter = nil
    print("Letter: closed")
    await saving?.value

    print("Recent files: \(recentFiles.names.joined(separator: ", "))")
    // A release build could deallocate the scene, with its status bar, after its last use.
    extendLifetime(draft)
  }
}

/// A window with its views. Whatever owns the scene keeps them alive: a delegate holds its listeners weakly.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor struct Scene {
  let window: Window
  private let statusBar: StatusBar

  init(name: String) {
    window = Window(name: name)
    statusBar = StatusBar(window)
  }

  /// Saves the text in a task, which does not keep the window alive.
  func save(with service: SaveService) -> Task<Void, Never> {
    let (text, name, listeners) = (window.text, window.name, window.listeners)
    return Task { await service.save(text, as: name, for: listeners) }
  }
}

/// The names of the files that were saved, the latest first.
@MainActor final class RecentFiles {
  private(set) var names: [String] = []

  /// A method is the handler. It runs on the main actor, and the observation ends with this object.
  init(center: MulticastCenter) { center.observe(.saved, owner: self, RecentFiles.add) }

  private func add(_ file: SavedFile) { names.insert(file.name, at: 0) }
}
