import Multicast
import TestSupport
import Testing

/// A center keeps what is attached to it.
@Suite struct AttachmentTests {
  let center = MulticastCenter()
  let journal = Journal()

  @Test func whatIsDetachedEnds() {
    weak var sentinel: Sentinel?
    do {
      let attached = Sentinel(journal)
      sentinel = attached
      center.attach(attached)
      center.attach(attached)
    }
    #expect(journal.read() == "")
    if let sentinel { center.detach(sentinel) }
    #expect(journal.read() == "end")
    #expect(sentinel == nil)
  }

  @Test func theCenterIsGoneForWhatEndsWithIt() {
    do {
      let center = MulticastCenter()
      center.attach(
        Sentinel { [weak center] in journal.write(center == nil ? "gone" : "there") })
      // What is not attached is not detached.
      center.detach(Sentinel(journal))
      #expect(journal.read() == "end")
    }
    #expect(journal.read() == "gone")
  }
}
