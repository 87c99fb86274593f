import PackageDescription

func target() -> Target {
  // the example
}
