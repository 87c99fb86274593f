import Foundation
import Hummingbird
import Logging
import Metrics
import Multicast
import MulticastCarrier
import MulticastRedis
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
    let meter = CarriageMeter()
    center.observe(.carriageState, owner: meter) { meter, state in meter.record(state) }
    let slow = SlowConnections(limit: 100)
    let application = Application(
      router: routes(to: chat, metrics: metrics, origins: origins),
      server: .http1(
        configuration: .init(additionalChannelHandlers: [RequestTimeout(.seconds(10), slow)])),
      configuration: ApplicationConfiguration(
        address: .hostname(arguments.host, port: arguments.port), backlog: 1_024),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? arguments.port
        // The server listens at all addresses of this machine. Print one that a browser can open.
        let host = ["0.0.0.0", "::"].contains(arguments.host) ? "localhost" : arguments.host
        let address = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        await chat.listens(at: address)
        FileHandle.standardOutput.write(Data("\(name) listens at \(address)\n".utf8))
      },
      logger: logger)
    // They end in the opposite order: first the rooms, so that streams end after their last events, then the server,
    // and then the carriage, which sends the waiting messages.
    var configuration = ServiceGroupConfiguration(
      services: [carriage, presence, application, chat],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    // A browser that does not read must not keep the server from ending.
    configuration.maximumGracefulShutdownDuration = .seconds(10)
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch let error as any CustomStringConvertible & Error
      where "\(error)".contains("EADDRINUSE") || "\(error)".contains("Address already in use")
    {
      throw UsageError("Port \(arguments.port) is in use. Choose another one with --port.")
    }
    extendLifetime(meter)
  }
}
