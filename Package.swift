// swift-tools-version: 6.2
import PackageDescription

// Swift 6.2 is the oldest compiler that is tested; README.md promises it.
let package = Package(
  name: "Multicast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Multicast", targets: ["Multicast"]),
    .library(name: "MulticastFoundation", targets: ["MulticastFoundation"]),
  ],
  targets: [
    .target(name: "Multicast", swiftSettings: [.strictMemorySafety()]),
    .target(
      name: "MulticastFoundation", dependencies: ["Multicast"],
      swiftSettings: [.strictMemorySafety()]),
    .executableTarget(
      name: "LoginSession", dependencies: ["Multicast"], path: "Examples/LoginSession"),
    .executableTarget(
      name: "DirectoryScan", dependencies: ["Multicast"], path: "Examples/DirectoryScan"),
    .target(name: "TestSupport", dependencies: ["Multicast"], path: "Tests/TestSupport"),
    .target(name: "CoreModel", dependencies: ["Multicast"], path: "Tests/CoreModel"),
    .executableTarget(
      name: "Fuzz", dependencies: ["Multicast", "CoreModel"], path: "Tests/Fuzz"),
    .testTarget(
      name: "MulticastTests", dependencies: ["Multicast", "CoreModel", "TestSupport"],
      resources: [.copy("Expected")]),
    .testTarget(
      name: "MulticastFoundationTests", dependencies: ["MulticastFoundation", "TestSupport"]),
    .testTarget(name: "ExampleTests", dependencies: ["LoginSession", "DirectoryScan"]),
  ],
  swiftLanguageModes: [.v6]
)
