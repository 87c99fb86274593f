// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because it checks the library and is no part of it.
let package = Package(
  name: "Tools",
  platforms: [.macOS(.v15)],
  targets: [
    .executableTarget(name: "Tools"),
    .testTarget(name: "ToolsTests", dependencies: ["Tools"]),
  ],
  swiftLanguageModes: [.v6]
)
