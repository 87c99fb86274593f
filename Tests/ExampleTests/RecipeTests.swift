import Foundation
import Multicast
import Observation
import TestSupport
import Testing

/// The recipes in the documentation behave as it describes.
@Suite struct RecipeTests {
  // MARK: - The text

  /// Each program tested here is a code block in the documentation.
  @Test(arguments: [
    ("EventLoops", ["EventLoops"]),
    ("Forwarding", ["Forwarding"]),
    ("Recipes", ["Sensor", "Veto", "Debounce", "Finished", "ObservableModel", "Unheard"]),
    ("Migrating", ["Shims"]),
  ])
  func theDocumentationShowsTheTestedPrograms(article: String, recipes: [String]) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    func text(of path: String) throws -> String {
      try String(contentsOf: tests.appending(path: path), encoding: .utf8)
    }
    // The wrapper of a block has the imports of the file. An app that uses a recipe decides about availability.
    func withoutImports(_ program: String) -> String {
      program.split(separator: "\n", omittingEmptySubsequences: false)
        .drop { $0.isEmpty || $0.hasPrefix("import ") }.filter { !$0.hasPrefix("@available") }
        .joined(separator: "\n")
    }
    let blocks = try text(of: "../../Sources/Multicast/Multicast.docc/Articles/\(article).md")
      .components(separatedBy: "```swift\n").dropFirst()
      .map { withoutImports($0.components(separatedBy: "```")[0]) }
    for recipe in recipes {
      var rest = withoutImports(try text(of: "Recipes/\(recipe).swift"))
      for block in blocks where rest.hasPrefix(block) {
        // A blank line separates two programs of one file.
        rest = withoutImports(String(rest.dropFirst(block.count)))
      }
      #expect(rest == "", "\(recipe).swift is not what \(article).md shows")
    }
  }

  // MARK: - Forwarding

  @MainActor private final class Header: ScrollDelegate {
    var offsets: [Double] = []
    var mayScrollToTop = true
    let title: String?

    init(title: String? = nil) { self.title = title }

    func didScroll(to offset: Double) { offsets.append(offset) }
    func shouldScrollToTop() -> Bool { mayScrollToTop }
    func titleForScrollBar() -> String? { title }
  }

  @Test @MainActor func aForwarderPassesEachCallOn() throws {
    let screen = ScrollScreen()
    let header = Header(title: "Contents")
    let forwarder = screen.forwarder
    forwarder.delegates.add(header)

    let delegate = try #require(screen.scrollView.delegate)
    delegate.didScroll(to: 50)
    #expect(header.offsets == [50])
    #expect(screen.toolbar.isCompact)
  }

  @Test @MainActor func aForwarderChoosesAnAnswer() {
    let forwarder = ScrollForwarder()
    #expect(forwarder.shouldScrollToTop() && forwarder.titleForScrollBar() == nil)

    let (toolbar, first, second) = (Toolbar(), Header(title: "1"), Header(title: "2"))
    for delegate in [toolbar, first, second] as [any ScrollDelegate] {
      forwarder.delegates.add(delegate)
    }
    #expect(forwarder.shouldScrollToTop())
    #expect(forwarder.titleForScrollBar() == "1")
    second.mayScrollToTop = false
    #expect(!forwarder.shouldScrollToTop())
    extendLifetime((toolbar, first, second))
  }

  // MARK: - Sensor

  @MainActor private final class Needle: HeadingListener {
    var degrees: Double?
    func headingChanged(to degrees: Double) { self.degrees = degrees }
  }

  @Test @MainActor func aSensorStopsAfterItsLastListener() {
    let compass = Compass()
    #expect(!compass.isRunning)
    var needle: Needle? = Needle()
    compass.add(needle!)
    compass.received(90)
    #expect(needle?.degrees == 90 && compass.isRunning)

    needle = nil
    compass.received(180)
    #expect(!compass.isRunning)
    needle = Needle()
    compass.add(needle!)
    #expect(compass.isRunning)
  }

  // MARK: - Veto

  @MainActor private final class Document: CloseListener {
    let veto: Veto?
    var wasAsked = false

    init(_ reason: String? = nil) { veto = reason.map(Veto.init) }

    func mayClose() throws(Veto) {
      wasAsked = true
      if let veto { throw veto }
    }
  }

  @Test @MainActor func theFirstVetoWins() {
    let center = MulticastCenter()
    #expect(closeOrExplain(in: center) == nil)
    let documents = [Document(), Document("unsaved"), Document("printing")]
    for document in documents { center.add(document, for: CloseListener.self) }
    #expect(closeOrExplain(in: center) == "unsaved")
    #expect(documents.map(\.wasAsked) == [true, true, false])
  }

  // MARK: - Debounce

  @Test @MainActor func aSearchWaitsForAPause() async {
    let center = MulticastCenter()
    let ended = Numbers()
    let ends = Locked<[CheckedContinuation<Void, Never>]>([])
    let search = Search(center: center) {
      await withCheckedContinuation { end in ends.withLock { $0.append(end) } }
      ended.add(1)
    }
    for query in ["s", "sw", "swift"] { center.post(.query, query) }
    #expect(search.searched == [])

    // The user stops typing: all waits return, the cancelled ones and the last one.
    while ends.withLock({ $0.count }) < 3 { await Task.yield() }
    for end in ends.withLock({ $0 }) { end.resume() }
    await ended.wait(for: 3)
    while search.searched.isEmpty { await Task.yield() }
    #expect(search.searched == ["swift"])
  }

  // MARK: - Finished

  /// While the main actor is busy, two downloads post.
  @Test @MainActor func theEndOfADownloadIsNotSkippedOnItsOwnTopic() async {
    let center = MulticastCenter()
    let list = DownloadList(center: center)
    let ends = Collected<String>()
    center.observe(.progress, owner: ends, newestOnly: true) { @MainActor ends, progress in
      if progress.fraction == 1 { ends.add(progress.file) }
    }
    onNewThread {
      for file in ["a", "b"] {
        for fraction in [0.5, 1] {
          center.post(.progress, Progress(file: file, fraction: fraction))
        }
        center.post(.finished, file)
      }
    }
    await center.settled()
    #expect(ends.all == ["b"])
    #expect(list.finished == ["a", "b"])
  }

  // MARK: - An observable model

  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
  @Test @MainActor func aLateModelShowsTheLatestMessageAndThenEachLaterOne() async {
    let center = MulticastCenter()
    center.post(.batteryLevel, 80)
    let model = BatteryModel(center: center)
    #expect(model.level == 80)

    let changes = Numbers()
    withObservationTracking {
      _ = model.level
    } onChange: {
      changes.add(1)
    }
    _ = await Task.detached { await center.post(.batteryLevel, 79).delivered() }.value
    #expect(model.level == 79 && changes.all == [1])
  }

  // MARK: - Unheard

  private final class Ear: UnheardProtocol {
    func heard() {}
  }

  @Test func aCallThatNoListenerHearsIsReported() {
    let reports = Collected<String>()
    let center = makeCenter(reportingUnheard: reports.add)
    let ear = Ear()
    for _ in 0..<2 {
      center.notify(
        UnheardProtocol.self, fileID: "App/Store.swift", line: 1, column: 2
      ) { $0.heard() }
      center.add(ear, for: UnheardProtocol.self)
    }
    center.post(Topic<Int>("total"), 1, fileID: "App/Store.swift", line: 3, column: 4)
    #expect(
      reports.all == [
        "notify UnheardProtocol, at App/Store.swift:1:2",
        #"post Topic<Int>("total"), at App/Store.swift:3:4"#,
      ])
    extendLifetime(ear)
  }

  // MARK: - Shims

  @MainActor private protocol ShimProtocol {
    func work()
  }

  @MainActor private final class ShimClient: ShimProtocol {
    var works = 0
    func work() { works += 1 }
  }

  @Test @MainActor func aBroadcasterCallsEachObserverOnce() {
    let clients = [ShimClient(), ShimClient()]
    for client in clients + clients {
      Broadcaster.register((any ShimProtocol).self, observer: client)
    }
    let center = MulticastCenter.default
    #expect(center[ShimProtocol.self].count == 2)
    Broadcaster.notify((any ShimProtocol).self) { $0.work() }
    #expect(clients.map(\.works) == [1, 1])
    Broadcaster.unregister((any ShimProtocol).self, observer: clients[0])
    Broadcaster.notify((any ShimProtocol).self) { $0.work() }
    #expect(clients.map(\.works) == [1, 2])
    Broadcaster.unregister((any ShimProtocol).self)
    #expect(center[ShimProtocol.self].isEmpty)
  }

  @Test func aSynchronizedSetCallsEachElementOnItsQueue() async {
    let set = WeakSynchronizedSet<any QueueProtocol>()
    let elements = [QueueElement(), QueueElement()]
    for element in elements { set.insert(element, queue: element.queue) }
    set.forEach { $0.work() }
    for element in elements { await element.works.wait(for: 1) }
    set.removeElement(elements[0])
    set.forEach { $0.work() }
    await elements[1].works.wait(for: 2)
    elements[0].queue.sync {}
    #expect(elements.map(\.works.all) == [[1], [1, 1]])
  }
}

private protocol UnheardProtocol {
  func heard()
}

private protocol QueueProtocol {
  func work()
}

/// Adds 1 for each call on its queue, and 0 for a call elsewhere.
private final class QueueElement: QueueProtocol {
  let queue = DispatchQueue(label: "element")
  let works = Numbers()
  private static let isCurrent = DispatchSpecificKey<ObjectIdentifier>()

  init() { queue.setSpecific(key: Self.isCurrent, value: ObjectIdentifier(self)) }

  func work() {
    works.add(DispatchQueue.getSpecific(key: Self.isCurrent) == ObjectIdentifier(self) ? 1 : 0)
  }
}
