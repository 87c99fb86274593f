import Multicast

// A class is a key too: its clients are its instances, and those of its subclasses.

class View {
  init() {}
  func draw() {}
}

final class Button: View {
  func press() {}
}

final class Cell<Content> {
  var content: Content?
}

func classes(center: MulticastCenter, button: Button) {
  center.add(button, for: View.self)
  center.add(button, for: Button.self)
  center.add(button, for: type(of: button))
  center.add(button, for: AnyObject.self)
  center.add(Cell<Int>(), for: Cell<Int>.self)
  center.notify(View.self) { $0.draw() }
  center.notify(Button.self) { $0.press() }
  center.notify(AnyObject.self) { print(ObjectIdentifier($0)) }
  center.notify(Cell<Int>.self) { $0.content = nil }
  let views = MulticastDelegate<View>()
  views.add(button)
  views.notify { $0.draw() }
}
