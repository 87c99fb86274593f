// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Multicast",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Multicast", targets: ["Multicast"])
  ],
  targets: [
    .target(name: "Multicast", swiftSettings: [.strictMemorySafety()]),
    .testTarget(name: "MulticastTests", dependencies: ["Multicast"]),
  ],
  swiftLanguageModes: [.v6]
)
