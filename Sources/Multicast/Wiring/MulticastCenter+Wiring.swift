extension MulticastCenter {
  /// The listeners at this moment: every listener protocol with its clients, and every topic with its
  /// observers.
  ///
  /// Calls only the `description` of ids. Reads one list after the other, so a concurrent change may show in
  /// one list and not in the next. Holds each client for an instant, as ``MulticastDelegate/count`` does.
  ///
  /// - Complexity: O(*n*) in the number of clients and observers, and the time to sort topics by name.
  public var wiring: Wiring {
    let registries = registries.all.compactMap { $0 as? any DrawnRegistry }
    return Wiring(
      registries.flatMap(\.snapshots), waiting: backlogs(of: registries.flatMap(\.lists)))
  }

  /// The homes of lists in which letters wait.
  private func backlogs(of lists: [ClientList]) -> [BacklogSnapshot] {
    var seen: Set<ObjectIdentifier> = []
    return lists.flatMap { list in list.audience?.residents ?? [] }.compactMap { residents in
      let mailbox = residents.home
      guard seen.insert(ObjectIdentifier(mailbox)).inserted else { return nil }
      let (count, time) = office.withLock { state in mailbox.waiting(&state) }
      return count == 0 ? nil : BacklogSnapshot(mailbox: mailbox, letters: count, time: time)
    }
  }
}
