import Multicast
import TestSupport
import Testing

struct CarriedValueTests {
  private enum Request {
    @TaskLocal static var id = 0
  }

  private let seen = Numbers()
  private let place = Place()
  private let owner = kept(Owner())

  private func observe(in center: MulticastCenter) {
    center.observe(.login, owner: owner) { [seen] _, _ in seen.add(Request.id) }
    center.observe(.login, owner: owner, on: place.queue) { [seen] _, _ in seen.add(Request.id) }
    center.observe(.login, owner: owner) { [seen] _, _ in
      await Task.yield()
      seen.add(Request.id)
    }
  }

  @Test func everyHomeSeesTheValueOfThePoster() async {
    let center = MulticastCenter(carrying: CarriedValue(Request.$id))
    observe(in: center)
    await Request.$id.withValue(7) { _ = await center.postAndWait(.login, Login(id: 1)) }
    #expect(seen.all == [7, 7, 7])
    extendLifetime(owner)
  }

  @Test func withoutItOnlyWhoIsCalledHereDoes() async {
    let center = MulticastCenter()
    observe(in: center)
    await Request.$id.withValue(7) { _ = await center.postAndWait(.login, Login(id: 1)) }
    #expect(seen.all.sorted() == [0, 0, 7])
    extendLifetime(owner)
  }

  @Test func whatFollowsSeesTheValueOfItsOwnPost() {
    let center = MulticastCenter(carrying: CarriedValue(Request.$id))
    center.observe(.login, owner: owner) { [seen] _, login in
      seen.add(Request.id)
      guard login.id == 1 else { return }
      Request.$id.withValue(8) { _ = center.post(.login, Login(id: 2)) }
    }
    Request.$id.withValue(7) { _ = center.post(.login, Login(id: 1)) }
    #expect(seen.all == [7, 8])
    extendLifetime(owner)
  }

  @Test func aDelegateThatStandsAloneCarriesAndTellsInTheSameContext() async {
    let told = Numbers()
    let delegate = MulticastDelegate<any WorkerProtocol>(
      onDelivery: { _ in told.add(Request.id) }, carrying: CarriedValue(Request.$id))
    let worker = kept(Worker(onWork: { [seen] _ in seen.add(Request.id) }))
    delegate.add(worker, on: place.queue)
    await Request.$id.withValue(7) { _ = await delegate.postAndWait { $0.work(0) } }
    #expect(seen.all == [7])
    await told.wait(for: 6)
    #expect(told.all.allSatisfy { $0 == 7 })
  }
}
