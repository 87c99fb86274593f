// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library never resolve what only its recipes need.
let package = Package(
  name: "Recipes",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Multicast", path: "../.."),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .target(
      name: "Recipes",
      dependencies: [
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "NIOCore", package: "swift-nio"),
      ]),
    .testTarget(
      name: "RecipesTests",
      dependencies: [
        "Recipes",
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
