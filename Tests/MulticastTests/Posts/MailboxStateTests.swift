import Testing

@testable import Multicast

/// The transitions of a mailbox, without threads, locks and posts: letters are numbers.
@Suite struct MailboxStateTests {
  @Test func theFirstLetterStartsADrainAndLaterOnesDoNot() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.isBusy == false)
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    #expect(mailbox.put(2, isHere: false) == .none)
    #expect(mailbox.isReady == true)
  }

  @Test func aLetterOfAThreadThatIsHereStartsNone() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.put(1, isHere: true) == .none)
    #expect(mailbox.put(2, isHere: false) == .startDrain)
  }

  @Test func aDrainHandlesBatchesUntilNothingIsLeft() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...5 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimForDrain(3, into: &batch) == .handle)
    #expect(batch.all == [1, 2, 3])
    #expect(mailbox.letters.all == [4, 5])
    #expect(mailbox.taken == 3)
    // What comes meanwhile is handled by the same drain.
    #expect(mailbox.put(6, isHere: false) == .none)
    #expect(mailbox.takeNext(.max, into: &batch) == .handle)
    #expect(batch.all == [4, 5, 6])
    #expect(mailbox.takeNext(.max, into: &batch) == .stop)
    #expect(mailbox.isBusy == false)
    #expect(mailbox.put(7, isHere: false) == .startDrain)
  }

  @Test func aDrainThatEndsItsTurnAsksForAnother() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...2 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimForDrain(1, into: &batch) == .handle)
    #expect(mailbox.release() == .startDrain)
    #expect(mailbox.taken == 0)
    #expect(mailbox.claimForDrain(1, into: &batch) == .handle)
    #expect(mailbox.release() == .none)
  }

  @Test func oneThreadAtATimeIsAtWork() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    #expect(mailbox.claimAndTake(into: &batch) == .handle)
    #expect(batch.all == [])
    #expect(mailbox.isBusy == true)
    #expect(mailbox.isReady == false)
    #expect(mailbox.claimAndTake(into: &batch) == .leave)
    #expect(mailbox.put(1, isHere: false) == .none)
    #expect(mailbox.claimForDrain(.max, into: &batch) == .stop)
    #expect(mailbox.release() == .startDrain)
    #expect(mailbox.claimAndTake(into: &batch) == .handle)
    #expect(batch.all == [1])
    #expect(mailbox.release() == .none)
    #expect(mailbox.isBusy == false)
    // The drain that was scheduled finds nothing.
    #expect(mailbox.claimForDrain(.max, into: &batch) == .stop)
    #expect(mailbox.isBusy == false)
  }

  @Test func aDrainThatIsTakenBackIsAskedForAgain() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    mailbox.unscheduleDrain()
    #expect(mailbox.put(2, isHere: false) == .startDrain)
  }
}
