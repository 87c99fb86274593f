import Foundation
import Multicast
import MulticastFoundation

/// The session of `--tour`: one rule of the center in each step.
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
    // Otherwise the app and its clients could be deallocated after their last use.
    extendLifetime(app)
  }

  private func introduce() {
    print(
      """
      A login session, step by step. (To play events of your own: swift run LoginSession --help)

      UserProtocol is a listener protocol. It has one method for a login and one for a logout. Objects
      that conform to it are added to a center, and become its clients. An account store notifies the
      center, and the center calls every client. Each line below has the time, the home in which it
      happens, the object, and what that does.
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

      2. The audit log is added again. The center's add method returns \(wasAdded), because the log is
         already a client. The center still calls it once.

      """)
    app.play(.login(19001))
    app.play(.logout)
  }

  private func release() {
    print(
      """

      3. The profile screen is closed and deallocated. The center holds its clients weakly, so the
         screen does not remove itself.

      """)
    app.closeProfileScreen()
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

         These two have a center of their own. Its onRecursion prints the report, with the path of call
         sites. MulticastCenter.default prints the same on standard error.

      """)
    let center = MulticastCenter(onRecursion: { print($0) })
    let store = AccountStore(center: center)
    let clients = (MaintenanceMode(store), AutoLogin(19003, store))
    store.login(19003)
    // The center does not keep its clients alive.
    extendLifetime(clients)
  }

  private func observe() async {
    print(
      """

      5. A closure can observe a topic. The inbox's closure is written on the main actor, and runs
         there: before post returns if the main actor posts, and afterwards if a background task does.
         The observation ends with its owner, the inbox.

      """)
    let center = MulticastCenter.default
    var inbox = Optional(Inbox(center: center))
    say("Tour", "post: Welcome")
    center.post(.mail, Mail(subject: "Welcome"))
    await Task.detached {
      say("Tour", "post: News")
      await center.post(.mail, Mail(subject: "News")).delivered()
    }.value
    extendLifetime(inbox)
    inbox = nil
    let handlers = center.post(.mail, Mail(subject: "Too late")).clients
    say("Tour", "the inbox is deallocated: \(handlers) handlers")
  }

  private func correct() async {
    print(
      """

      6. A background service posts. A post calls each client in its home: a log without a home on the
         posting thread, a filter and a label on the main actor, an archive on its queue. The filter
         posts a correction, which follows the first post. So the label, which is called after the
         filter, shows 3 and then 2, the right number. With notify, it would show 2 and then 3.

      """)
    let center = MulticastCenter()
    let clients = MailClients(center: center)
    await MailService(center: center).fetch()
    extendLifetime(clients)
  }

  private func showWiring() {
    let center = MulticastCenter.default
    let inbox = Inbox(center: center)
    print(
      """

      7. A center's wiring lists its clients and handlers, and where a post calls each. A client without
         a home is called on the posting thread. The inbox is open again.

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
    findSlowClient()
  }

  private func notify() {
    print(
      """

      1. An account store notifies. Every client is called before notify returns, in order. The delivery
         ends when the last call returns. The badge is called, too: the protocol's default does nothing.

      """)
    let app = App(center: center)
    app.play(.login(19000))
    extendLifetime(app)
  }

  private func post() async {
    print(
      """

      2. A mail service posts in the background. It calls the log, which has no home, and leaves one
         letter for the main actor and one for the archive's queue. Each home handles its letter in a pass
         of its own. On the main actor, the filter posts a correction, which follows.

      """)
    let clients = MailClients(center: center)
    await MailService(center: center).fetch()
    extendLifetime(clients)
  }

  private func findSlowClient() {
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

/// The session of `--timeline`, which writes its deliveries for a trace viewer.
@MainActor struct TimelineTour {
  /// Plays a session, and writes the timeline to a file.
  func play(_ path: String) async throws(UserError) {
    let timeline = DeliveryTimeline()
    let center = MulticastCenter(onDelivery: timeline.record)
    let app = App(center: center)
    let clients = MailClients(center: center)
    app.play(.login(19000))
    await MailService(center: center).fetch()
    app.play(.logout)
    extendLifetime((app, clients))
    do {
      try timeline.json.write(to: URL(fileURLWithPath: path))
    } catch {
      throw UserError("\(path): error: cannot be written (\(error.localizedDescription))")
    }
    print("\nWrote \(path). Open it at ui.perfetto.dev, or in Chromium at chrome://tracing.")
  }
}
