import Testing

@testable import Multicast

/// The transitions of a mailbox, without threads, locks and posts. The letters are numbers.
@Suite struct MailboxStateTests {
  // MARK: put

  @Test func theFirstLetterStartsADrainAndLaterOnesDoNot() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.isBusy == false)
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    #expect(mailbox.put(2, isHere: false) == .nothing)
    #expect(mailbox.isBusy == true)
    #expect(mailbox.isReady == true)
    #expect(mailbox.letters.all == [1, 2])
  }

  @Test func aLetterFromAThreadThatIsHereStartsNoDrain() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.put(1, isHere: true) == .nothing)
    #expect(mailbox.put(2, isHere: false) == .startDrain)
  }

  @Test func aLetterInAClaimedMailboxStartsNoDrain() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.claim() == .claimed)
    #expect(mailbox.put(1, isHere: false) == .nothing)
    #expect(mailbox.isReady == false)
  }

  @Test func theNextLetterStartsADrainAfterOneWasUnscheduled() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    mailbox.unscheduleDrain()
    #expect(mailbox.put(2, isHere: false) == .startDrain)
  }

  // MARK: claim, take

  @Test func oneThreadAtATimeHoldsTheClaim() {
    var mailbox = MailboxState<Int>()
    #expect(mailbox.claim() == .claimed)
    #expect(mailbox.isBusy == true)
    #expect(mailbox.claim() == .nothing)
    #expect(mailbox.endClaim() == .nothing)
    #expect(mailbox.isBusy == false)
    #expect(mailbox.claim() == .claimed)
  }

  @Test func aThreadTakesTheLettersThatWaitedWhenItClaimed() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...2 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimAndTakeAll(into: &batch) == .claimed)
    _ = mailbox.put(3, isHere: false)
    #expect(batch.all == [1, 2])
    #expect(mailbox.taken == 2)
    #expect(mailbox.letters.all == [3])
    // The drain for the first letter is still scheduled, so no other drain is started.
    #expect(mailbox.endClaim() == .nothing)
    #expect(mailbox.taken == 0)
    #expect(mailbox.isReady == true)
  }

  @Test func aThreadTakesNoLettersFromAClaimedMailbox() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    #expect(mailbox.claim() == .claimed)
    #expect(mailbox.put(1, isHere: false) == .nothing)
    #expect(mailbox.claimAndTakeAll(into: &batch) == .nothing)
    #expect(batch.all == [])
    #expect(mailbox.takeNextOrEndClaim(.max, into: &batch) == .claimed)
    #expect(batch.all == [1])
  }

  @Test func aThreadThatFindsNoLettersEndsItsClaim() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    #expect(mailbox.claimAndTakeAll(into: &batch) == .nothing)
    #expect(mailbox.isBusy == false)
    #expect(mailbox.put(1, isHere: false) == .startDrain)
  }

  // MARK: claimForDrain, takeNextOrEndClaim

  @Test func aDrainHandlesBatchesUntilNoLetterWaits() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...5 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimForDrain(3, into: &batch) == .claimed)
    #expect(batch.all == [1, 2, 3])
    #expect(mailbox.letters.all == [4, 5])
    #expect(mailbox.taken == 3)
    // The same drain handles letters that arrive before it has finished.
    #expect(mailbox.put(6, isHere: false) == .nothing)
    #expect(mailbox.takeNextOrEndClaim(.max, into: &batch) == .claimed)
    #expect(batch.all == [4, 5, 6])
    #expect(mailbox.takeNextOrEndClaim(.max, into: &batch) == .nothing)
    #expect(mailbox.isBusy == false)
    #expect(mailbox.taken == 0)
    #expect(mailbox.put(7, isHere: false) == .startDrain)
  }

  @Test func aDrainFindsNothingInAClaimedMailbox() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    #expect(mailbox.claim() == .claimed)
    #expect(mailbox.claimForDrain(.max, into: &batch) == .nothing)
    #expect(batch.all == [])
    // That drain is no longer scheduled.
    #expect(mailbox.endClaim() == .startDrain)
  }

  @Test func aDrainFindsNothingInAnIdleMailbox() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    #expect(mailbox.put(1, isHere: false) == .startDrain)
    #expect(mailbox.claimAndTakeAll(into: &batch) == .claimed)
    #expect(mailbox.endClaim() == .nothing)
    #expect(mailbox.claimForDrain(.max, into: &batch) == .nothing)
    #expect(mailbox.isBusy == false)
    #expect(mailbox.put(2, isHere: false) == .startDrain)
  }

  // MARK: release

  @Test func releasingTheClaimStartsADrainForWaitingLetters() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...2 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimForDrain(1, into: &batch) == .claimed)
    #expect(mailbox.endClaim() == .startDrain)
    #expect(mailbox.isReady == true)
    #expect(mailbox.claimForDrain(1, into: &batch) == .claimed)
    #expect(batch.all == [2])
    #expect(mailbox.endClaim() == .nothing)
    #expect(mailbox.isBusy == false)
  }

  // MARK: endTurn

  @Test func aDrainComesBackForTheLettersThatWaitAfterItsTurn() {
    var mailbox = MailboxState<Int>()
    var batch = WaitingQueue<Int>()
    for letter in 1...2 { _ = mailbox.put(letter, isHere: false) }
    #expect(mailbox.claimForDrain(1, into: &batch) == .claimed)
    #expect(mailbox.endTurn() == .comeBack)
    // It is still scheduled.
    #expect(mailbox.put(3, isHere: false) == .nothing)
    #expect(mailbox.claimForDrain(.max, into: &batch) == .claimed)
    #expect(batch.all == [2, 3])
    #expect(mailbox.endTurn() == .nothing)
    #expect(mailbox.isBusy == false)
  }
}
