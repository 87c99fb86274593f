import Multicast

// A composition is a key like any other.

protocol Opening {
  func open()
}

protocol Closing {
  func close()
}

protocol Titled: AnyObject {
  var title: String { get set }
}

class View {
  init() {}
  func draw() {}
}

final class Door: View, Opening, Closing, Titled {
  var title: String
  override init() { title = "" }
  func open() {}
  func close() {}
}

typealias Moving = Opening & Closing

func compositions(center: MulticastCenter, door: Door) {
  center.add(door, for: (Opening & Closing).self)
  center.add(door, for: (any Opening & Closing).self)
  center.add(door, for: Moving.self)
  center.add(door, for: (Opening & AnyObject).self)
  center.add(door, for: (View & Opening).self)
  center.add(door, for: (Opening & Closing & Titled).self)
  center.notify((Opening & Closing).self) { client in
    client.open()
    client.close()
  }
  center.notify(Moving.self) { $0.open() }
  center.notify((Opening & AnyObject).self) { print(ObjectIdentifier($0)) }
  center.notify((View & Opening).self) { $0.draw() }
  center.notify((Opening & Closing & Titled).self) { $0.title = "open" }
}

func delegates(door: Door) {
  let moving = MulticastDelegate<any Opening & Closing>()
  moving.add(door)
  moving.notify { $0.close() }
  let views = MulticastDelegate<any View & Opening>()
  views.add(door)
  views.notify { $0.open() }
  let titled = MulticastDelegate<Opening & Titled>()
  titled.add(door)
  titled.notify { $0.title += "!" }
}

func parts(center: MulticastCenter, client: any Opening & Closing) {
  center.add(client, for: Opening.self)
  center.add(client, for: Closing.self)
}
