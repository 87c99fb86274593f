import TestSupport
import Multicast
import Testing

/// A center keeps what is attached to it.
@Suite struct AttachmentTests {
  let journal = Journal()

  @Test func anAttachmentLivesAsLongAsItsCenter() {
    var center = Optional(MulticastCenter())
    center?.attach(Sentinel(journal))
    #expect(journal.read() == "")
    center = nil
    #expect(journal.read() == "end")
  }

  @Test func whatIsDetachedEnds() {
    let center = MulticastCenter()
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

  @Test func detachingWhatIsNotAttachedDoesNothing() {
    let center = MulticastCenter()
    let attached = Sentinel(journal)
    center.attach(attached)
    center.detach(Sentinel(journal))
    #expect(journal.read() == "end")
    center.detach(attached)
    center.detach(attached)
    #expect(journal.read() == "")
    extendLifetime(attached)
  }

  @Test func anAttachmentMayUseTheCenterAtItsEnd() {
    let center = MulticastCenter()
    let journal = journal
    func attach() -> Sentinel {
      let sentinel = Sentinel { [weak center] in
        center?.attach(Sentinel(journal))
        journal.write("ended")
      }
      center.attach(sentinel)
      return sentinel
    }
    center.detach(attach())
    #expect(journal.read() == "ended")
  }

  @Test func theCenterIsGoneForWhatEndsWithIt() {
    let journal = journal
    do {
      let center = MulticastCenter()
      center.attach(
        Sentinel { [weak center] in journal.write(center == nil ? "gone" : "there") })
    }
    #expect(journal.read() == "gone")
  }
}
