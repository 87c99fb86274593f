import CoreMetrics
import Dispatch
import Foundation
import InMemoryTracing
import MetricsTestKit
import Multicast
import Testing
import Tracing

@testable import Recipes

protocol UserProtocol: Sendable {
  func userLogin(_ userID: UInt)
}

final class Client: UserProtocol {
  let onLogin: @Sendable () -> Void

  init(onLogin: @escaping @Sendable () -> Void = {}) { self.onLogin = onLogin }

  func userLogin(_ userID: UInt) { onLogin() }
}

/// Runs the code that the documentation shows, with the packages that it names.
///
/// Serialized, because each of these packages can be bootstrapped once in a process.
@Suite(.serialized) struct RecipeTests {
  @Test func aTimerAndACounterForEachProtocol() throws {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    let center = makeMeasuredCenter()
    let clients = [Client(), Client()]
    for client in clients { center.add(client, for: UserProtocol.self) }
    for _ in 0..<3 { center.notify(UserProtocol.self) { $0.userLogin(19000) } }

    let key = [("key", "UserProtocol")]
    #expect(try metrics.expectTimer("multicast.delivery", key).values.count == 3)
    #expect(try metrics.expectCounter("multicast.calls", key).values == [2, 2, 2])
    extendLifetime(clients)
  }

  @Test func theContextOfThePostingTaskReachesEachHome() async throws {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    let center = makeTracedCenter()
    let client = Client { withSpan("handling") { _ in } }
    center.add(client, for: UserProtocol.self, on: DispatchQueue(label: "home"))

    let request = try await withSpan("request") { span in
      await center.post(UserProtocol.self) { $0.userLogin(19000) }.delivered()
      return try #require(span as? InMemorySpan).spanID
    }
    let spans = tracer.finishedSpans
    let passes = spans.filter { $0.operationName == "post UserProtocol" }
    #expect(passes.count == 2)
    #expect(spans.count { $0.operationName == "handling" } == 1)
    for span in spans where span.operationName != "request" {
      #expect(span.parentSpanID == request)
      #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
    }
    extendLifetime(client)
  }

  @Test(arguments: ["Metrics", "Tracing"])
  func theDocumentationShowsTheTestedCode(_ system: String) throws {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let recipes = try String(
      contentsOf: package.appending(path: "Sources/Recipes/Recipes.swift"), encoding: .utf8)
    let article = try String(
      contentsOf: package.appending(
        path: "../../Sources/Multicast/Multicast.docc/Articles/SeeingDeliveries.md"),
      encoding: .utf8)
    let block = try #require(
      article.components(separatedBy: "```").first { $0.contains("\nimport \(system)\n") })
    let recipe = block.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
      .drop { line in line.isEmpty || line.hasPrefix("import ") }.joined(separator: "\n")
    #expect(recipe.contains("MulticastCenter") && recipes.contains(recipe))
  }
}
