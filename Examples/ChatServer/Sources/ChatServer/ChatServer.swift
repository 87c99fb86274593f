import Foundation
import Hummingbird
import Logging
import Metrics
import Multicast
import MulticastCarrier
import ServiceLifecycle

#if NATS
  import MulticastNATS
#endif

@main struct ChatServer {
  static func main() async {
    do {
      try await run(try Arguments(Array(CommandLine.arguments.dropFirst())))
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

  private static func run(_ arguments: Arguments) async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    let metrics = MetricSums()
    MetricsSystem.bootstrap(metrics)
    var logger = Logger(label: "ChatServer")
    logger.logLevel = .notice
    let name = arguments.name ?? "server \(ProcessInfo.processInfo.processIdentifier)"
    logger[metadataKey: "server"] = "\(name)"

    let center = MulticastCenter(onDelivery: measure)
    let carriage = Carriage(center: center, carrier: try carrier(arguments))
    let chat = Chat(
      name: name, rooms: arguments.rooms, center: center, carriage: carriage, logger: logger)
    let application = Application(
      router: routes(to: chat, metrics: metrics),
      configuration: ApplicationConfiguration(
        address: .hostname(arguments.host, port: arguments.port), backlog: 1_024),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? arguments.port
        let address = "http://\(arguments.host):\(port)"
        await chat.listens(at: address)
        FileHandle.standardOutput.write(Data("\(name) listens at \(address)\n".utf8))
      },
      logger: logger)
    // They end in the opposite order: first the rooms, so that streams end after what they still have to tell, then
    // the server, and then the carrier sends what waits.
    var configuration = ServiceGroupConfiguration(
      services: [Carrying(carriage: carriage), application, chat],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    // Whoever does not read does not keep the server from its end.
    configuration.maximumGracefulShutdownDuration = .seconds(10)
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch let error as any CustomStringConvertible & Error
      where "\(error)".contains("EADDRINUSE") || "\(error)".contains("Address already in use")
    {
      throw UsageError("Port \(arguments.port) is in use. Choose another one with --port.")
    }
  }

  private static func carrier(_ arguments: Arguments) throws -> any Carrier {
    guard let url = arguments.nats else { return InMemoryCarrier() }
    #if NATS
      return NATSCarrier(url: url, subject: "multicast.chat")
    #else
      throw UsageError(
        "This program was built without NATS: swift run --traits NATS ChatServer --nats \(url)")
    #endif
  }
}

private struct Carrying: Service {
  let carriage: Carriage

  func run() async throws {
    try? await cancelWhenGracefulShutdown {
      await carriage.run()
      try Task.checkCancellation()
    }
    await carriage.close()
  }
}
