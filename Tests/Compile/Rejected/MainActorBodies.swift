import Multicast

// Nor does a body of the main actor lead there: nobody awaits it. Mode 5 lets it pass with a
// warning.

@MainActor protocol ScreenProtocol {
  func draw()
}

@MainActor func draw(_ screen: any ScreenProtocol) { screen.draw() }

nonisolated func notify(center: MulticastCenter, delegates: MulticastDelegate<any ScreenProtocol>) {
  // expected-mode6-error@+2 {{loses global actor 'MainActor'}}
  // expected-mode5-warning@+1 {{loses global actor 'MainActor'}}
  center.notify(ScreenProtocol.self) { @MainActor screen in screen.draw() }
  // expected-mode6-error@+2 {{loses global actor 'MainActor'}}
  // expected-mode5-warning@+1 {{loses global actor 'MainActor'}}
  delegates.notify(draw)
}
