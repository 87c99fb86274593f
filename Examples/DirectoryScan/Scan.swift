import Multicast

/// A scan with everything that counts: the actor that these listeners live in.
///
/// They are called only here, one batch at a time, and so need no locks. The scanner reads folders in
/// parallel tasks outside of it.
actor Scan {
  private let root: Path
  private let center: MulticastCenter

  private let totals = Totals()
  private let extensions = ExtensionTotals()
  private let largest = LargestFiles()
  private let problems = ProblemList()
  private let duplicates: DuplicateFinder
  private let progress: ProgressMeter

  init(_ root: Path, center: MulticastCenter) {
    self.root = root
    self.center = center
    duplicates = DuplicateFinder(center: center)
    progress = ProgressMeter(center: center)
  }

  /// Scans the folder, and returns when all that was found is counted and drawn.
  ///
  /// If its task is cancelled, it ends soon, with what was found so far. To be called once.
  func run() async -> Report {
    connect()
    await Scanner(center: center).scan(root)
    if !Task.isCancelled {
      await center.notify(PhaseListener.self, awaiting: { await $0.walkDidEnd() })
    }
    await center.notify(PhaseListener.self, awaiting: { await $0.scanDidEnd() })
    var report = Report(root: root, isInterrupted: Task.isCancelled)
    center.notify(ReportSource.self) { $0.add(to: &report) }
    return report
  }

  /// Makes clients of all listeners. That they are added in this actor lets a debug build find a notify
  /// anywhere else.
  private func connect() {
    center.add(totals, for: ScanListener.self)
    center.add(extensions, for: ScanListener.self)
    center.add(largest, for: ScanListener.self)
    center.add(problems, for: ScanListener.self)
    center.add(duplicates, for: ScanListener.self)
    center.add(progress, for: ScanListener.self)

    center.add(progress, for: ComparisonListener.self)

    center.add(duplicates, for: PhaseListener.self)
    center.add(progress, for: PhaseListener.self)

    center.add(totals, for: ReportSource.self)
    center.add(extensions, for: ReportSource.self)
    center.add(largest, for: ReportSource.self)
    center.add(problems, for: ReportSource.self)
    center.add(duplicates, for: ReportSource.self)
  }
}
