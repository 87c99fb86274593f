/// The session that is played from a file: the same clients, and the events of the file.
struct Playback {
  private let app = App()
  private let source: EventSource
  private let events: [Event]

  /// Reads all events, so that a mistake in the last line is found before the first is played.
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
    // Without this line the app, and with it every client, could end after its last use.
    extendLifetime(app)
  }
}
