import Multicast

// Through a protocol for classes, a body may assign properties; so it may where setters are
// nonmutating.

protocol TitleProtocol: AnyObject {
  var title: String { get set }
}

protocol StatusProtocol {
  var status: String { get nonmutating set }
}

final class Label: TitleProtocol, StatusProtocol {
  var title = ""
  var status = ""
}

func assign(center: MulticastCenter, delegates: MulticastDelegate<any TitleProtocol>) {
  let label = Label()
  center.add(label, for: TitleProtocol.self)
  center.add(label, for: StatusProtocol.self)
  center.notify(TitleProtocol.self) { $0.title = "ready" }
  center.notify(TitleProtocol.self) { $0.title += "!" }
  center.notify(StatusProtocol.self) { $0.status = "ready" }
  delegates.notify(forEach: ["a", "b"]) { $0.title += $1 }
  for client in center.clients(for: TitleProtocol.self) { center.remove(client) }
}
