import Multicast

/// The session of `--trace`, which shows the events of deliveries.
@MainActor struct TraceTour {
  private let center = MulticastCenter(onDelivery: { event in print("    \(event)") })

  func play() async {
    print(
      """
      A login session with a trace: which clients are called, in which order, and for how long. The
      center was made with

        MulticastCenter(onDelivery: { event in print("    \\(event)") })

      so it prints a line for each event of a delivery. These lines have the widest indent. The number
      after # is the same for all events of one delivery.
      """)
    notify()
    await post()
    findWhoIsSlow()
  }

  private func notify() {
    print(
      """

      1. An account store notifies. Every client is called at once, in order. The delivery ends when the
         last call returns. The badge is called too, although it does not implement the login.

      """)
    let app = App(center: center)
    app.play(.login(19000))
    extendLifetime(app)
  }

  private func post() async {
    print(
      """

      2. A mail service posts in the background. The filter and the label live on the main actor, so the
         post leaves a letter for them, and the first pass ends without a call. A second pass handles the
         letter on the main actor. There, the filter posts a correction, which follows: the label receives
         the first post before.

      """)
    await MailService.play(in: center)
  }

  private func findWhoIsSlow() {
    print(
      """

      3. Logging out takes long. This center prints slow clients only:

           MulticastCenter(onDelivery: { event in
             if case .called(_, let time) = event.phase, time >= 20_000_000 { print("    \\(event)") }
           })

      """)
    let center = MulticastCenter(onDelivery: { event in
      if case .called(_, let time) = event.phase, time >= 20_000_000 { print("    \(event)") }
    })
    let app = App(center: center)
    let backup = Backup(center: center)
    app.play(.logout)
    extendLifetime((app, backup))
  }
}
