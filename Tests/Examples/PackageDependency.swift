import PackageDescription

func dependency() -> Package.Dependency {
  // the example
}
