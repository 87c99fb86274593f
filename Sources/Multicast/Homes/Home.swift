/// Where a client is called: the actor that it was added in.
///
/// Unchecked, because a weak reference is a variable. This one is assigned in `init` alone, and any thread
/// may load it.
final class Home: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) {
    self.actor = actor
  }

  /// The home of a list's clients in an actor: the one that some of them have, or a new one.
  static func home(in actor: any Actor, of list: ClientList) -> Home {
    for group in list.groups {
      if let home = group.subject as? Home, home.actor === actor { return home }
    }
    return Home(actor)
  }
}
