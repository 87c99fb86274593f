import Foundation
import Multicast
import MulticastFoundation

@MainActor protocol DocumentScreen {
  func show(_ title: String)
}

nonisolated protocol UploadProtocol {
  func uploadDidProgress(_ fraction: Double)
}

final class Document: Sendable {}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct DocumentDidChange: NotificationCenter.MainActorMessage {
  typealias Subject = Document
  let title: String
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct UploadDidProgress: NotificationCenter.AsyncMessage {
  typealias Subject = Document
  let fraction: Double
}

nonisolated extension Topic where Message == String {
  static var title: Self { Topic("title") }
}

nonisolated extension Topic where Message == Double {
  static var upload: Self { Topic("upload") }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func bridge(_ center: MulticastCenter, _ document: Document) {
  // the example
}
