import Foundation
import MulticastCarrierTesting
import Testing

/// The page, in a real browser.
@Suite(.serialized, .timeLimit(.minutes(60))) struct PageTests {
  private struct Page {
    let chromium: Chromium
    let id: String

    init(_ chromium: Chromium, _ server: Server, _ name: String) async throws {
      self.chromium = chromium
      let name = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      id = try await chromium.show("\(server.address)/?room=lobby&name=\(name)")
    }

    func text(_ element: String) async throws -> String {
      try await chromium.evaluate("document.getElementById('\(element)')?.textContent", in: id)
    }
    func shows(_ text: String, in element: String) async throws {
      try await eventually("the page shows \(text) in \(element)") {
        try await self.text(element).contains(text)
      }
    }
    /// Types a text, and presses the button with this name, or Enter.
    func say(_ text: String, button: String? = nil) async throws {
      let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
      let press =
        button.map { "document.getElementById('\($0)').click()" }
        ?? "document.getElementById('say').requestSubmit()"
      try await chromium.evaluate(
        "(() => { document.getElementById('text').value = \(quoted); \(press) })()", in: id)
    }
    func count(_ selector: String) async throws -> String {
      try await chromium.evaluate("document.querySelectorAll('\(selector)').length", in: id)
    }
  }

  @Test func comesBackWithItsProcess() async throws {
    var server = try await Server("one", port: try Engine.freePort())
    let chromium = try await Chromium()
    let page = try await Page(chromium, server, "Ann")
    try await page.shows("connected", in: "state")
    try await page.shows("Ann", in: "here")
    try await page.say("first")
    try await page.shows("first", in: "log")
    try await server.program.kill9()
    try await page.shows("reconnecting", in: "state")
    server = try await Server("again", port: server.port)
    try await page.shows("connected", in: "state")
    try await page.shows("again", in: "server")
    try await page.say("second")
    try await page.shows("second", in: "log")
    try await page.shows("first", in: "log")
  }

  @Test func showsTextAsText() async throws {
    let server = try await Server("one")
    let chromium = try await Chromium()
    let name = "<img src=x onerror=hacked=1>"
    let page = try await Page(chromium, server, name)
    try await page.shows(name, in: "here")
    let script = "<script>hacked=1</script><img src=x onerror='hacked=1'>"
    try await page.say(script)
    try await page.shows(script, in: "log")
    try await page.say(script, button: "change")
    try await page.shows(script, in: "topic")
    #expect(try await page.count("img") == "0")
    #expect(try await page.count("script") == "1")
    #expect(try await chromium.evaluate("typeof hacked", in: page.id) == "undefined")
    // A second person with this name learns why it is refused, and may take another one.
    let other = try await Page(chromium, server, name)
    try await other.shows("is here already", in: "refused")
  }

  @Test func marksOwnMessagesAndContainsRightToLeftText() async throws {
    let server = try await Server("one")
    let chromium = try await Chromium()
    let page = try await Page(chromium, server, "Ann")
    try await page.shows("connected", in: "state")
    let bob = try await Browser(server, "Bob")
    try await bob.say("from Bob \u{202E}txet")
    try await page.shows("from Bob", in: "log")
    try await page.say("from Ann")
    try await eventually("her message is marked") {
      try await page.count("#log .mine:not(.sending)") == "1"
    }
    #expect(try await page.count("#log li:not(.mine) bdi") == "2")
    #expect(try await page.count("header h1") == "1")
    await bob.leave()
  }

  @Test func aServerThatHangsIsNoticedAndAMessageIsPostedOnce() async throws {
    let server = try await Server("one")
    let chromium = try await Chromium()
    let page = try await Page(chromium, server, "Ann")
    let bob = try await Browser(server, "Bob")
    try await page.shows("connected", in: "state")
    server.program.signal(SIGSTOP)
    // All of its threads stop within a moment.
    try await Task.sleep(for: .milliseconds(300))
    try await page.say("Hello?")
    for _ in 0..<2 {
      try await chromium.evaluate(
        "document.getElementById('say').requestSubmit()", in: page.id)
    }
    let sending = try await page.count("#log .sending")
    let log = try await page.text("log")
    #expect(sending == "1", "\(sending) messages are being sent: \(log)")
    try await page.shows("reconnecting", in: "state")
    server.program.signal(SIGCONT)
    try await page.shows("connected", in: "state")
    try await bob.hears("Hello?")
    try await eventually("it is sent") { try await page.count("#log .sending") == "0" }
    try await bob.say("after")
    try await bob.hears("after")
    // The page has shown the event after it, so it has shown this one.
    try await page.shows("after", in: "log")
    #expect(try await page.text("log").components(separatedBy: "Hello?").count == 2)
    #expect(bob.said == ["Hello?", "after"])
    await bob.leave()
  }

  /// A server that listens at all addresses, opened under one of them, in a room that contains messages.
  @Test func aNewVisitorOfAServerAtAllAddressesReadsAndSpeaks() async throws {
    let server = try await Server("one", "--host", "0.0.0.0")
    let bob = try await Browser(server, "Bob")
    try await bob.say("before")
    try await bob.hears("before")
    let chromium = try await Chromium()
    let page = try await Page(chromium, server, "Ann")
    try await page.shows("before", in: "log")
    try await page.say("from Ann")
    try await bob.hears("from Ann")
    try await page.shows("from Ann", in: "log")
    #expect(try await page.count("#log .notice, #log .failed") == "0")
    // The page runs no script but its own, wherever it comes from.
    try await chromium.evaluate(
      """
      (() => { const s = document.createElement('script'); s.textContent = 'hacked = 1';
      document.body.append(s) })()
      """, in: page.id)
    #expect(try await chromium.evaluate("typeof hacked", in: page.id) == "undefined")
    await bob.leave()
  }

  @Test func threePagesAtThreeServersOutliveTheirEngine() async throws {
    var engine = try await engine()
    var servers: [Server] = []
    for name in ["north", "east", "south"] {
      servers.append(try await Server(name, "--engine", engine.url))
    }
    let chromium = try await Chromium()
    var pages: [Page] = []
    for (server, name) in zip(servers, ["Ann", "Bob", "Cid"]) {
      pages.append(try await Page(chromium, server, name))
    }
    func isAlone(_ page: Page) async throws -> Bool {
      try await page.count("#alone:not([hidden])") == "1"
    }
    for page in pages { try await page.shows("one of 3 servers", in: "servers") }
    try await pages[0].say("before")
    for page in pages { try await page.shows("before", in: "log") }
    try await engine.program.kill9()
    for page in pages { try await eventually("the page shows it") { try await isAlone(page) } }
    for (number, page) in pages.enumerated() {
      try await page.say("meanwhile at \(number)")
      try await page.shows("meanwhile at \(number)", in: "log")
    }
    engine = try await ChatServerTests.engine(again: engine)
    for page in pages {
      try await eventually("the page shows it") { try await !isAlone(page) }
      for number in 0..<3 { try await page.shows("meanwhile at \(number)", in: "log") }
    }
    try await pages[2].say("after")
    for page in pages {
      try await page.shows("after", in: "log")
      let log = try await page.text("log")
      for text in ["before", "meanwhile at 0", "meanwhile at 1", "meanwhile at 2", "after"] {
        #expect(log.components(separatedBy: text).count == 2, "Once: \(text)")
      }
      #expect(try await page.count("#log .notice, #log .failed") == "0")
    }
    withExtendedLifetime((engine, servers)) {}
  }

  @Test func theSixthPageCanSend() async throws {
    let server = try await Server("one")
    let chromium = try await Chromium()
    let bob = try await Browser(server, "Bob")
    var pages: [Page] = []
    for number in 1...6 {
      pages.append(try await Page(chromium, server, "tab \(number)"))
      try await pages[number - 1].shows("connected", in: "state")
    }
    try await pages[5].say("from the sixth")
    try await bob.hears("from the sixth")
    try await pages[5].shows("connected", in: "state")
    try await pages[0].shows("from the sixth", in: "log")
    #expect(bob.said == ["from the sixth"])
    await bob.leave()
  }

  @Test func twoPagesOnTwoProcessesTalk() async throws {
    let engine = try await engine()
    let ports = [try Engine.freePort(), try Engine.freePort()]
    let peers = ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
    let north = try await Server(
      "north", port: ports[0], "--engine", engine.url, "--peers", peers)
    let east = try await Server("east", port: ports[1], "--engine", engine.url, "--peers", peers)
    let chromium = try await Chromium()
    let ann = try await Page(chromium, north, "Ann")
    let bob = try await Page(chromium, east, "Bob")
    for page in [ann, bob] {
      try await page.shows("one of 2 servers", in: "servers")
      try await page.shows("Ann", in: "here")
      try await page.shows("Bob", in: "here")
    }
    try await ann.shows("north", in: "server")
    try await bob.shows("east", in: "server")
    try await ann.say("The ferry leaves at nine.")
    try await bob.shows("The ferry leaves at nine.", in: "log")
    try await bob.say("I bring coffee.")
    try await ann.shows("I bring coffee.", in: "log")
    try await ann.say("Saturday on the island", button: "change")
    try await bob.shows("Saturday on the island", in: "topic")

    let late = try await Page(chromium, east, "Cid")
    try await late.shows("Saturday on the island", in: "topic")
    try await ann.shows("Cid", in: "here")
    if let file = ProcessInfo.processInfo.environment["CHAT_SCREENSHOT"] {
      try await chromium.screenshot(of: ann.id, width: 720, height: 360)
        .write(to: URL(fileURLWithPath: file))
    }

    // The page's server is killed. The page goes on at the other one, and misses nothing.
    try await north.program.kill9()
    try await bob.say("Are you there?")
    try await ann.shows("east", in: "server")
    try await ann.shows("connected", in: "state")
    try await ann.shows("Are you there?", in: "log")
    #expect(try await ann.text("log").components(separatedBy: "I bring coffee.").count == 2)
    try await ann.say("Yes.")
    try await bob.shows("Yes.", in: "log")
    withExtendedLifetime(engine) {}
  }
}
