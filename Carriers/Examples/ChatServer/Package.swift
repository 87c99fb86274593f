// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the carriers do not resolve the dependencies of this example.
let package = Package(
  name: "ChatServer",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "NATS", description: "Knows nats-server, too. Needs the C client of NATS.")
  ],
  dependencies: [
    .package(name: "Multicast", path: "../../.."),
    .package(name: "Carriers", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "ChatServer",
      dependencies: [
        .product(name: "MulticastCarrier", package: "Carriers"),
        .product(
          name: "MulticastNATS", package: "Carriers", condition: .when(traits: ["NATS"])),
        .product(name: "MulticastRedis", package: "Carriers"),
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("page.html")],
      swiftSettings: [.strictMemorySafety()]),
    .testTarget(
      name: "ChatServerTests",
      dependencies: [
        "ChatServer",
        .product(name: "MulticastCarrier", package: "Carriers"),
        .product(name: "MulticastCarrierTesting", package: "Carriers"),
        .product(
          name: "MulticastNATS", package: "Carriers", condition: .when(traits: ["NATS"])),
        .product(name: "MulticastRedis", package: "Carriers"),
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
