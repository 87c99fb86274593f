import Multicast

/// The session without arguments: what a center does, in four parts.
@MainActor struct Show {
  func play() async {
    print("A login session: when and where each client is called. (--tour explains each rule.)")
    let app = App()
    heading("1. notify calls all clients here and now, in the order in which they were added")
    app.play(.login(19000))

    heading("2. A deallocated client is no longer called, although nothing has removed it")
    app.closeProfileScreen()
    app.play(.login(19001))

    heading("3. A loop is refused, instead of overflowing the stack")
    refuseLoop()

    heading("4. post calls each client in its home: the main actor, a queue, or the posting thread")
    await post()
    print("\n   The spam filter is called first, but no client receives 2 before 3.")
  }

  /// Two clients answer each other's calls with `notify`.
  private func refuseLoop() {
    let center = MulticastCenter(onRecursion: { report in
      say("MulticastCenter", styled("refuses the second login: a loop", .red))
      for site in report.path { print("            \(site)") }
    })
    let store = AccountStore(center: center)
    let clients = (MaintenanceMode(store), AutoLogin(19002, store))
    store.login(19002)
    extendLifetime(clients)
  }

  /// A service posts in the background, and a client on the main actor posts a correction.
  private func post() async {
    let center = MulticastCenter()
    let clients = MailClients(center: center)
    await MailService(center: center).fetch()
    extendLifetime(clients)
  }
}
