/// Plays the events of a file with the same clients.
struct Playback {
  private let app = App()
  private let source: EventSource
  private let events: [Event]

  /// Reads all events first, so an error in the last line is found before any is played.
  init(_ source: EventSource) throws(InputError) {
    self.source = source
    events = try source.read()
  }

  func play() {
    print(
      """
      A login session: \(events.count) \(events.count == 1 ? "event" : "events") from \(source).
      An account store announces them to MulticastCenter.default, which calls its clients:
      \(app.listening).

      """)
    for event in events { app.play(event) }
    print("\nStill listening: \(app.listening).")
    // Otherwise the app and its clients could end after their last use.
    extendLifetime(app)
  }
}
