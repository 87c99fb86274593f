import Multicast
import TestSupport
import Testing

struct CarriedValueTests {
  private enum Request {
    @TaskLocal static var id = 0
  }

  private let seen = Numbers()
  private let homes = Homes()
  private let owner = kept(Owner())

  private func observe(in center: MulticastCenter) {
    for home in [HomeKind.none, .queue, .task] {
      center.observe(.login, owner: owner, id: "\(home)", in: home, of: homes) { [seen] _ in
        seen.add(Request.id)
      }
    }
  }

  /// Without it, only who is called here sees the value of the poster.
  @Test(arguments: [(true, [7, 7, 7]), (false, [0, 0, 7])])
  func everyHomeSeesTheValueOfThePoster(isCarried: Bool, values: [Int]) async {
    let center = MulticastCenter(carrying: isCarried ? CarriedValue(Request.$id) : nil)
    observe(in: center)
    await Request.$id.withValue(7) { _ = await center.post(.login, Login(id: 1)).delivered() }
    #expect(seen.all.sorted() == values)
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
  }

  @Test func aDelegateThatStandsAloneCarriesAndTellsInTheSameContext() async {
    let told = Numbers()
    let delegate = MulticastDelegate<any WorkerProtocol>(
      onDelivery: { _ in told.add(Request.id) }, carrying: CarriedValue(Request.$id))
    let worker = kept(Worker(onWork: { [seen] _ in seen.add(Request.id) }))
    delegate.add(worker, on: homes.one.queue)
    await Request.$id.withValue(7) { _ = await delegate.post { $0.work(0) }.delivered() }
    #expect(seen.all == [7])
    await told.wait(for: 6)
    #expect(told.all.allSatisfy { $0 == 7 })
  }
}
