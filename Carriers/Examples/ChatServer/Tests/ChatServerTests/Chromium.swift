import Foundation
import MulticastCarrierTesting
import Testing

/// A headless Chromium, told what to do over a pair of pipes.
actor Chromium {
  private let program: Program
  private let input: Int32
  private let output: Int32
  private var received: [UInt8] = []
  private var last = 0

  init() async throws {
    // A pipe that this process opens for both ways keeps nobody waiting.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Pipes-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pipes = ["in", "out"].map { folder.appendingPathComponent($0).path }
    for pipe in pipes { try #require(mkfifo(pipe, 0o600) == 0) }
    input = open(pipes[0], O_RDWR | O_CLOEXEC)
    output = open(pipes[1], O_RDWR | O_CLOEXEC | O_NONBLOCK)
    program = try Program(
      "/bin/sh",
      [
        "-c",
        """
        exec "${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
          --no-first-run --disable-background-networking --remote-debugging-pipe \
          --disable-background-timer-throttling --disable-backgrounding-occluded-windows \
          --disable-renderer-backgrounding \
          --user-data-dir=FOLDER/profile about:blank 3<'\(pipes[0])' 4>'\(pipes[1])'
        """,
      ])
    // The pipes keep their names until Chromium has opened them.
    try await eventually("Chromium starts") { [program] in
      try #require(program.isRunning, "\(program.text("err"))")
      return FileManager.default.fileExists(atPath: program.path("profile"))
    }
  }

  deinit {
    close(input)
    close(output)
  }

  /// Ends the browser with all of its processes.
  func quit() async throws {
    _ = try? await call("Browser.close")
    // Its processes end with it. Some versions stay after that.
    try await program.kill9()
  }

  func show(_ address: String) async throws -> String {
    let target = try await call("Target.createTarget", ["url": address])["targetId"] ?? ""
    return try await call("Target.attachToTarget", ["targetId": target, "flatten": true])[
      "sessionId"] ?? ""
  }

  /// There is no page for a moment, because one is loaded. Nothing was evaluated then.
  private struct NoPage: Error {}

  /// Evaluates an expression in a page, as text.
  @discardableResult
  func evaluate(_ expression: String, in page: String) async throws -> String {
    var text = ""
    try await eventually("the page is there") {
      do {
        text =
          try await call("Runtime.evaluate", ["expression": "String(\(expression))"], page)["value"]
          ?? ""
        return true
      } catch is NoPage { return false }
    }
    return text
  }

  func screenshot(of page: String, width: Int, height: Int) async throws -> Data {
    _ = try await call(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false], page)
    return try #require(
      Data(base64Encoded: try await call("Page.captureScreenshot", [:], page)["data"] ?? ""))
  }

  /// Calls a method of the DevTools protocol. Returns the texts of its result.
  private func call(
    _ method: String, _ parameters: [String: Any] = [:], _ session: String? = nil
  ) async throws -> [String: String] {
    last += 1
    let id = last
    var message: [String: Any] = ["id": id, "method": method, "params": parameters]
    message["sessionId"] = session
    var bytes = try Array(JSONSerialization.data(withJSONObject: message)) + [0]
    while !bytes.isEmpty {
      let count = write(input, bytes, bytes.count)
      try #require(count > 0)
      bytes.removeFirst(count)
    }
    var answer: [String: String]?
    try await eventually("\(method) is answered") {
      try #require(program.isRunning, "\(program.text("err").suffix(500))")
      answer = try next(id)
      return answer != nil
    }
    return answer ?? [:]
  }

  private func next(_ id: Int) throws -> [String: String]? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(output, &chunk, chunk.count), count > 0 {
      received += chunk[..<count]
    }
    while let end = received.firstIndex(of: 0) {
      let message = try JSONSerialization.jsonObject(with: Data(received[..<end])) as? [String: Any]
      received.removeSubrange(...end)
      guard let message, message["id"] as? Int == id else { continue }
      let error = (message["error"] as? [String: Any])?["message"] as? String ?? ""
      if error.contains("default execution context") || error.contains("target navigated") {
        throw NoPage()
      }
      try #require(message["error"] == nil, "\(message)")
      let result = message["result"] as? [String: Any] ?? [:]
      try #require(result["exceptionDetails"] == nil, "\(result)")
      return (result["result"] as? [String: Any] ?? result).compactMapValues { $0 as? String }
    }
    return nil
  }
}
