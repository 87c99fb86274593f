import Foundation
import Hummingbird
import Logging
import Metrics
import Multicast
import MulticastCarrier
import MulticastRedis
import NIOCore
import ServiceLifecycle

#if NATS
  import MulticastNATS
#endif

@main struct ChatServer {
  static func main() async {
    do {
      let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
      let carrier: any Carrier & Registry
      do { carrier = try arguments.carrier() } catch CarrierError.refused(let reason) {
        throw UsageError(reason)
      }
      try await run(arguments, carrier)
    } catch let error as UsageError {
      fail("\(error)\n\n\(Arguments.usage)", 2)
    } catch {
      fail("The server cannot run: \(error)", 1)
    }
  }

  private static func fail(_ text: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("ChatServer: \(text)\n".utf8))
    exit(status)
  }

  private static func run(_ arguments: Arguments, _ carrier: any Carrier & Registry) async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    let metrics = MetricSums()
    MetricsSystem.bootstrap(metrics)
    var logger = Logger(label: "ChatServer")
    logger.logLevel = .notice
    let name = arguments.name ?? "server \(ProcessInfo.processInfo.processIdentifier)"
    logger[metadataKey: "server"] = "\(name)"

    let center = MulticastCenter(onDelivery: measure, carrying: .carriage)
    let carriage = Carriage(
      center: center, carrier: carrier, name: name, prefix: "chat", logger: logger)
    let presence = Presence(center: center, registry: carrier, name: name, prefix: "chat")
    let chat = Chat(
      name: name, rooms: arguments.rooms, center: center, carriage: carriage, presence: presence)
    let origins = Origins(host: arguments.host, peers: arguments.peers)
    let timeout = TimeAmount.seconds(Int64(arguments.requestTimeout))
    let server = Listener(
      option: "--port", host: arguments.host, port: arguments.port, timeout: timeout,
      router: routes(to: chat, origins: origins), logger: logger
    ) { address in
      await chat.listens(at: address)
      FileHandle.standardOutput.write(Data("\(name) listens at \(address)\n".utf8))
    }
    // No page of another origin may read these, not even one of the --peers.
    let admin = Listener(
      option: "--admin", host: arguments.admin.host, port: arguments.admin.port, timeout: timeout,
      router: adminRoutes(
        to: chat, metrics: metrics, origins: Origins(host: arguments.admin.host, peers: [])),
      logger: logger
    ) { address in
      FileHandle.standardOutput.write(Data("\(name) reports at \(address)\n".utf8))
    }
    // They end in the opposite order: first the rooms, so that streams end after their last events, then the servers,
    // and then the carriage, which sends the waiting messages.
    var configuration = ServiceGroupConfiguration(
      services: [carriage, presence, admin, server, chat],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    // A browser that does not read must not keep the server from ending.
    configuration.maximumGracefulShutdownDuration = .seconds(10)
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// An HTTP server at one port.
private struct Listener: Service {
  /// The argument of the command line that names the port.
  let option: String
  let port: Int
  let application: any Service

  /// - Parameters:
  ///   - timeout: See `RequestTimeout`.
  ///   - listens: Called with an address that a browser can open, when the server listens.
  init(
    option: String, host: String, port: Int, timeout: TimeAmount,
    router: Router<BasicRequestContext>, logger: Logger,
    listens: @escaping @Sendable (String) async -> Void
  ) {
    (self.option, self.port) = (option, port)
    let slow = SlowConnections(limit: 100)
    application = Application(
      router: router,
      server: .http1(
        configuration: .init(additionalChannelHandlers: [RequestTimeout(timeout, slow)])),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port), backlog: 1_024),
      onServerRunning: { channel in
        // The server listens at all addresses of this machine. Name one that a browser can open.
        let shown = ["0.0.0.0", "::"].contains(host) ? "localhost" : host
        let chosen = channel.localAddress?.port ?? port
        await listens("http://\(shown.contains(":") ? "[\(shown)]" : shown):\(chosen)")
      },
      logger: logger)
  }

  func run() async throws {
    do { try await application.run() } catch let error
      where "\(error)".contains("EADDRINUSE") || "\(error)".contains("Address already in use")
    {
      throw UsageError("Port \(port) is in use. Choose another one with \(option).")
    }
  }
}
