// swift-tools-version: 6.2
import PackageDescription

// Swift 6.2 is the oldest compiler that is tested; README.md promises it.
let package = Package(
  name: "Multicast",
  platforms: [.macOS(.v10_15), .iOS(.v13), .tvOS(.v13), .watchOS(.v6), .visionOS(.v1)],
  products: [
    .library(name: "Multicast", targets: ["Multicast"]),
    .library(name: "MulticastFoundation", targets: ["MulticastFoundation"]),
    .library(name: "MulticastTesting", targets: ["MulticastTesting"]),
  ],
  targets: [
    .target(
      name: "Multicast", dependencies: ["MulticastPlatform"],
      swiftSettings: [.strictMemorySafety()]),
    .target(
      name: "MulticastPlatform",
      linkerSettings: [
        .linkedLibrary("log", .when(platforms: [.android])),
        .linkedLibrary("Synchronization", .when(platforms: [.windows])),
      ]),
    .target(
      name: "MulticastFoundation", dependencies: ["Multicast"],
      swiftSettings: [.strictMemorySafety()]),
    .target(
      name: "MulticastTesting", dependencies: ["Multicast"],
      swiftSettings: [.strictMemorySafety()]),
    .executableTarget(
      name: "LoginSession", dependencies: ["Multicast", "MulticastFoundation"],
      path: "Examples/LoginSession"),
    .executableTarget(
      name: "DirectoryScan", dependencies: ["Multicast", "MulticastFoundation"],
      path: "Examples/DirectoryScan"),
    .executableTarget(
      name: "TwoWindows", dependencies: ["Multicast"], path: "Examples/TwoWindows"),
    .target(name: "TestSupport", dependencies: ["Multicast"], path: "Tests/TestSupport"),
    .target(name: "CoreModel", dependencies: ["Multicast"], path: "Tests/CoreModel"),
    .executableTarget(
      name: "Fuzz", dependencies: ["Multicast", "CoreModel"], path: "Tests/Fuzz"),
    .executableTarget(name: "Static", dependencies: ["Multicast"], path: "Tests/Static"),
    .testTarget(
      name: "MulticastTests", dependencies: ["Multicast", "CoreModel", "TestSupport"]),
    .testTarget(
      name: "MulticastFoundationTests", dependencies: ["MulticastFoundation", "TestSupport"]),
    .testTarget(
      name: "MulticastTestingTests", dependencies: ["MulticastTesting", "TestSupport"]),
    .testTarget(
      name: "LanguageMode5Tests", dependencies: ["Multicast", "TestSupport"],
      swiftSettings: [.swiftLanguageMode(.v5), .defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "CPlusPlusTests", dependencies: ["Multicast", "MulticastPlatform"],
      swiftSettings: [.interoperabilityMode(.Cxx)]),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "LoginSession", "DirectoryScan", "TwoWindows", "Multicast", "TestSupport",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
