/// Work on files that is done a slice at a time, each in a task of its own.
protocol SlicedWork: Sendable {
  /// What is left to be read; 0 when the work is done.
  var bytesLeft: Int { get }

  /// Reads the next slice.
  mutating func proceed() throws(ContentError)
}

/// What came of a slice of work.
struct SliceOutcome<Work: SlicedWork>: Sendable {
  private(set) var work: Work
  private(set) var error: ContentError?

  /// What has been read, or need not be read after all.
  let bytesDone: Int

  /// Does the next slice.
  init(of work: Work) {
    self.work = work
    do throws(ContentError) {
      try self.work.proceed()
      bytesDone = work.bytesLeft - self.work.bytesLeft
    } catch {
      self.error = error
      bytesDone = work.bytesLeft
    }
  }

  /// Whether no further slice is to be done.
  var isLast: Bool { error != nil || work.bytesLeft == 0 }
}
