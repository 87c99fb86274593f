import Multicast

/// The session that is played with `--trace`: it shows what a center can tell of its deliveries.
@MainActor struct TraceTour {
  private let center = MulticastCenter(onDelivery: DeliveryLog.events { print("    \($0)") })

  func play() async {
    print(
      """
      A login session, traced: who is called, in which order, and for how long. The center was made with

        MulticastCenter(onDelivery: DeliveryLog.events { print("    \\($0)") })

      so that it prints a line for each thing that happens in a delivery. These lines stand furthest
      to the right, under what is announced (">") and beside what the clients do. The number after #
      is the same for all lines of one delivery.
      """)
    notify()
    await post()
    findWhoIsSlow()
  }

  private func notify() {
    print(
      """

      1. An account store notifies. Everybody is called here and now, in order, and the delivery ends
         when the last one has returned. The badge does not care for logins, and is called as well.

      """)
    let app = App(center: center)
    app.play(.login(19000))
    extendLifetime(app)
  }

  private func post() async {
    print(
      """

      2. A mail service posts in the background. Nobody can be called there: the filter and the label
         live on the main actor. So a letter is left for them, and the pass of the service ends with no
         client called. The letter is handled on the main actor, a little later, in a pass of its own. There
         the filter posts a correction. It follows: the label hears of the first post before.

      """)
    let filter = SpamFilter(center: center)
    let label = UnreadLabel(center: center)
    print("> mail, found in the background")
    await MailService(center: center).fetch()
    extendLifetime((filter, label))
  }

  private func findWhoIsSlow() {
    print(
      """

      3. Logging out takes long. Who is to blame? This line of code says so, and nothing else:

           MulticastCenter(onDelivery: DeliveryLog.calls(slowerThan: .milliseconds(20)))

         Without a closure to print with, it writes to standard error.

      """)
    let slowCalls = DeliveryLog.calls(slowerThan: .milliseconds(20)) { print("    \($0)") }
    let center = MulticastCenter(onDelivery: slowCalls)
    let app = App(center: center)
    let backup = Backup(center: center)
    app.play(.logout)
    extendLifetime((app, backup))
  }
}
