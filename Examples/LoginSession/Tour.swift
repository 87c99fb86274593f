import Multicast

/// The session that is played without a file: it shows what a center does, one act at a time.
@MainActor struct Tour {
  private let app = App()

  func play() async {
    introduce()
    listen()
    addTwice()
    release()
    loop()
    await observe()
    await correct()
    showWiring()
    // Without this line the app, and with it every client, could end after its last use.
    extendLifetime(app)
  }

  private func introduce() {
    print(
      """
      A login session. (To play events of your own: swift run LoginSession --help)

      UserProtocol is a listener protocol: it has a method for each thing that can happen, a login
      and a logout. Objects that conform to it are added to a center, and so become its clients.
      An account store notifies the center, and the center calls every client. Below, a line with
      ">" is what the account store announces; under it is what the clients do.
      """)
  }

  private func listen() {
    print(
      """

      1. A profile screen, a badge and an audit log are clients of MulticastCenter.default. Each
         implements only the methods that it needs; UserProtocol has a default for the others.

      """)
    app.play(.login(19000))
    app.play(.logout)
  }

  private func addTwice() {
    let wasAdded = app.addAuditLogAgain()
    print(
      """

      2. The audit log is added a second time. The center's add method returns \(wasAdded): it is a
         client already, and is still called once.

      """)
    app.play(.login(19001))
    app.play(.logout)
  }

  private func release() {
    app.closeProfileScreen()
    print(
      """

      3. The profile screen is closed and released. Nobody removes it from the center: clients are
         held weakly, so it just hears no more.

      """)
    app.play(.login(19002))
    app.play(.logout)
  }

  private func loop() {
    print(
      """

      4. Clients may notify again while they are called. Maintenance mode answers a login with a
         logout, and auto-login answers a logout with a login. Either is fine; together they would
         never end. The center delivers the logout inside the login, but refuses the login inside
         that one: its call site, the place in the source where it stands, is delivering already.

         These two have a center of their own. Its onRecursion prints the report here, with the
         path of call sites that led to the refused one. MulticastCenter.default prints a report
         in one line on standard error.

      """)
    let center = MulticastCenter(onRecursion: { print($0) })
    let store = AccountStore(center: center)
    let maintenanceMode = MaintenanceMode(center: center, store: store)
    let autoLogin = AutoLogin(19003, center: center, store: store)
    // The center does not keep the two alive.
    withExtendedLifetime((maintenanceMode, autoLogin)) {
      print("> \(Event.login(19003))")
      store.login(19003)
    }
  }

  private func observe() async {
    print(
      """

      5. Where a few lines at the place of use are enough, a closure observes a topic. The inbox's was
         written on the main actor, and so it runs there: at once, if the post is made there, and in
         its turn, if the post is made in the background. It ends with its owner, the inbox.

      """)
    let center = MulticastCenter.default
    var inbox = Optional(Inbox(center: center))
    print("> mail, posted on the main actor")
    center.post(.mail, Mail(subject: "Welcome"))
    print("> mail, posted in the background")
    await Task.detached { _ = await center.postAndWait(.mail, Mail(subject: "News")) }.value
    extendLifetime(inbox)
    inbox = nil
    print("> mail, posted after the inbox was closed")
    let handlers = center.post(.mail, Mail(subject: "Too late"))
    print("  \(handlers) handlers called")
  }

  private func correct() async {
    print(
      """

      6. A service that works in the background posts, and its clients live on the main actor. A post
         calls every client at home, so they are called there. A spam filter corrects what it hears
         with a post of its own. That one follows: the label, which is called after the filter,
         hears of 3 before it hears of 2, and ends with the right number. Had they notified, it would
         have heard of 2 first, and of 3 last.

      """)
    let center = MulticastCenter()
    let filter = SpamFilter(center: center)
    let label = UnreadLabel(center: center)
    print("> mail, found in the background")
    await MailService(center: center).fetch()
    extendLifetime((filter, label))
  }

  private func showWiring() {
    let center = MulticastCenter.default
    let inbox = Inbox(center: center)
    print(
      """

      7. A center can tell who listens to what: its wiring, now that the inbox is open again.

      \(center.wiring)
      """)
    extendLifetime(inbox)
  }
}
