// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library do not resolve the dependencies of its measurement.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Multicast", path: ".."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    .target(name: "CAllocator"),
    // Without Foundation, for the probe.
    .target(name: "Systems", dependencies: [.product(name: "Multicast", package: "Multicast")]),
    .executableTarget(
      name: "Probe",
      dependencies: ["Systems", .product(name: "Multicast", package: "Multicast")]),
    .executableTarget(
      name: "FirstProgram", dependencies: [.product(name: "Multicast", package: "Multicast")]),
    .executableTarget(name: "FirstProgramAlone"),
    .target(
      name: "OtherSystems",
      dependencies: [
        "Systems",
        .product(name: "Multicast", package: "Multicast"),
        .product(name: "MulticastFoundation", package: "Multicast"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ]),
    .executableTarget(
      name: "Compare",
      dependencies: [
        "CAllocator", "Systems", "OtherSystems", .product(name: "Multicast", package: "Multicast"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
