// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library never resolve what only its measurement needs.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Multicast", path: ".."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.0"),
    // Without its interposers, which replace the functions of the runtime that are measured here.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CAllocator"),
    // Without Foundation, for the probe.
    .target(name: "Systems", dependencies: [.product(name: "Multicast", package: "Multicast")]),
    .executableTarget(name: "Probe", dependencies: ["Systems"]),
    .target(
      name: "OtherSystems",
      dependencies: [
        "Systems",
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ]),
    .executableTarget(
      name: "Compare",
      dependencies: [
        "CAllocator", "Systems", "OtherSystems", .product(name: "Multicast", package: "Multicast"),
      ]),
    .executableTarget(
      name: "Behave",
      dependencies: [
        "Systems", "OtherSystems",
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ]),
    // Not in Sources: the plugin wants a folder whose parent is called Benchmarks.
    .executableTarget(
      name: "Suite",
      dependencies: ["Systems", "OtherSystems", .product(name: "Benchmark", package: "benchmark")],
      path: "Suite",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ],
  swiftLanguageModes: [.v6]
)
