// swift-tools-version: 6.2
import PackageDescription

let safe: [SwiftSetting] = [.strictMemorySafety()]

// A package of its own, so that users of the library never resolve what only its carriers need.
let package = Package(
  name: "Carriers",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "MulticastCarrier", targets: ["MulticastCarrier"]),
    .library(name: "MulticastNATS", targets: ["MulticastNATS"]),
    .library(name: "MulticastRedis", targets: ["MulticastRedis"]),
    .library(name: "MulticastCarrierTesting", targets: ["MulticastCarrierTesting"]),
  ],
  dependencies: [
    .package(name: "Multicast", path: ".."),
    .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .target(
      name: "MulticastCarrier",
      dependencies: [
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "OrderedCollections", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: safe),
    .systemLibrary(
      name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    .target(
      name: "MulticastNATS", dependencies: ["CNATS", "MulticastCarrier"], swiftSettings: safe),
    .target(
      name: "MulticastRedis",
      dependencies: [
        "MulticastCarrier",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: safe),
    .target(
      name: "MulticastCarrierTesting",
      dependencies: ["MulticastCarrier", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: safe),
    .executableTarget(
      name: "Node",
      dependencies: ["MulticastCarrierTesting", "MulticastNATS", "MulticastRedis"],
      path: "Tests/Node"),
    .testTarget(
      name: "MulticastCarrierTests",
      dependencies: [
        "MulticastCarrier", "MulticastCarrierTesting",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "EngineTests",
      dependencies: [
        "CNATS", "MulticastCarrierTesting", "MulticastNATS", "MulticastRedis",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
