/// Keeps every problem.
final class ProblemList: ScanListener, ReportSource {
  private var problems: [Problem] = []

  func met(_ problem: Problem) {
    problems.append(problem)
  }

  func add(to report: inout Report) {
    report.problems = problems.sorted {
      $0.path != $1.path ? $0.path < $1.path : $0.description < $1.description
    }
  }
}
