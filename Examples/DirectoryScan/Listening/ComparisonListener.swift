/// How far the comparing of files has come.
protocol ComparisonListener: AnyObject {
  /// So many bytes more are to be read.
  func willCompare(bytes: Int)
  /// So many of them have been read, or need not be read after all.
  func compared(bytes: Int)
}
