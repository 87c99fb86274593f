import Multicast

/// The session without a file: one rule of the center in each step.
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
    // Otherwise the app and its clients could end after their last use.
    extendLifetime(app)
  }

  private func introduce() {
    print(
      """
      A login session. (To play events of your own: swift run LoginSession --help)

      UserProtocol is a listener protocol. It has one method for a login and one for a logout. Objects
      that conform to it are added to a center and become its clients. An account store notifies the
      center, and the center calls every client. Below, a line with ">" shows what the account store
      announces. The lines after it show what the clients do.
      """)
  }

  private func listen() {
    print(
      """

      1. A profile screen, a badge and an audit log are clients of MulticastCenter.default. Each
         implements only the methods that it needs. UserProtocol has defaults for the others.

      """)
    app.play(.login(19000))
    app.play(.logout)
  }

  private func addTwice() {
    let wasAdded = app.addAuditLogAgain()
    print(
      """

      2. The audit log is added again. The center's add method returns \(wasAdded), because the log is a
         client already. The center still calls it once.

      """)
    app.play(.login(19001))
    app.play(.logout)
  }

  private func release() {
    app.closeProfileScreen()
    print(
      """

      3. The profile screen is closed and deallocated. The center holds clients weakly, so the screen
         need not be removed.

      """)
    app.play(.login(19002))
    app.play(.logout)
  }

  private func loop() {
    print(
      """

      4. A client may notify while it is called. Maintenance mode answers a login with a logout, and
         auto-login answers a logout with a login. Either is fine, but together they would recurse
         forever. The center delivers the logout inside the login. It refuses the login inside that
         logout, because its call site is already delivering.

         These two have a center of their own. Its onRecursion prints the report with the path of call
         sites. MulticastCenter.default prints the same on standard error.

      """)
    let center = MulticastCenter(onRecursion: { print($0) })
    let store = AccountStore(center: center)
    let maintenanceMode = MaintenanceMode(store)
    let autoLogin = AutoLogin(19003, store)
    // The center does not keep the two alive.
    withExtendedLifetime((maintenanceMode, autoLogin)) {
      print("> \(Event.login(19003))")
      store.login(19003)
    }
  }

  private func observe() async {
    print(
      """

      5. A closure can observe a topic. The inbox's closure is written on the main actor and runs
         there: at once for a post on the main actor, a little later for one in the background. The
         observation ends with its owner, the inbox.

      """)
    let center = MulticastCenter.default
    var inbox = Optional(Inbox(center: center))
    print("> mail, posted on the main actor")
    center.post(.mail, Mail(subject: "Welcome"))
    print("> mail, posted in the background")
    await Task.detached { _ = await center.post(.mail, Mail(subject: "News")).delivered() }.value
    extendLifetime(inbox)
    inbox = nil
    print("> mail, posted after the inbox was closed")
    let handlers = center.post(.mail, Mail(subject: "Too late")).clients
    print("  \(handlers) handlers called")
  }

  private func correct() async {
    print(
      """

      6. A background service posts, and its clients live on the main actor. A post calls each client
         in its home, so they are called there. A spam filter posts a correction, which follows the first
         post. So the label, which is called after the filter, shows 3 and then 2, the right number.
         With notify, it would show 2 and then 3.

      """)
    await MailService.play(in: MulticastCenter())
  }

  private func showWiring() {
    let center = MulticastCenter.default
    let inbox = Inbox(center: center)
    print(
      """

      7. A center's wiring shows who listens to what, and where a post calls each. Who has no home is
         called on the posting thread. The inbox is open again.

      \(center.wiring)
      """)
    extendLifetime(inbox)
  }
}

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
