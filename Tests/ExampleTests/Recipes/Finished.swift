import Multicast

nonisolated struct Progress: Sendable {
  let file: String
  let fraction: Double
}
nonisolated extension Topic where Message == Progress {
  static var progress: Self {
    Topic("progress", keepsLatest: true)
  }
}
nonisolated extension Topic where Message == String {
  static var finished: Self { Topic("finished") }
}

@MainActor final class DownloadList {
  private(set) var shown: [String: Double] = [:]
  private(set) var finished: [String] = []

  init(center: MulticastCenter) {
    center.observe(
      .progress, owner: self, newestOnly: true,
      DownloadList.show)
    center.observe(
      .finished, owner: self, DownloadList.finish)
  }
  private func show(_ progress: Progress) {
    shown[progress.file] = progress.fraction
  }
  private func finish(_ file: String) {
    shown[file] = nil
    finished.append(file)
  }
}
