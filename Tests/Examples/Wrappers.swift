// What stands around examples of the documentation: see README.md. Each part is a program, and begins with its name and
// what it imports.

// MARK: Bridge: Foundation Multicast MulticastFoundation

nonisolated protocol PowerProtocol {
  func powerStateChanged()
}

nonisolated protocol DownloadProtocol {
  func downloadDidProgress(_ fraction: Double)
}

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated struct CloseCode: Sendable {
  let number: Int
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

nonisolated extension Notification.Name {
  static let powerStateDidChange = Notification.Name("powerStateDidChange")
  static let downloadDidProgress = Notification.Name("downloadDidProgress")
  static let connectionDidClose = Notification.Name("connectionDidClose")
}

final class Account: Sendable {}
final class Connection: Sendable {}

let center = MulticastCenter()
let account = Account()
let connection = Connection()

// the example

// MARK: BridgeMessages: Foundation Multicast MulticastFoundation

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

// MARK: Center: Multicast

let center = MulticastCenter()

// the example

// MARK: Client: Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

final class ProfileScreen: UserProtocol {
  let center = MulticastCenter()

  func userLogin(_ userID: UInt) {}

  func appear() {
    // the example
  }
}

// MARK: Delegates: Multicast

// Every method that an example calls, since a delegate is of one protocol.
nonisolated protocol Listener: Sendable {
  func userLogin(_ userID: UInt)
  func documentMayClose() -> Bool
  func found(_ file: String)
  func store(_ userID: UInt) async
  func freeBytes() async -> Int
}

let delegates = MulticastDelegate<any Listener>()
let files = ["a", "b"]

// the example

// MARK: Delegation: Dispatch Multicast

protocol PlayerDelegate: AnyObject {
  func playerDidStop(_ player: Player)
  func playerMayStop(_ player: Player) -> Bool
}

// the example

// MARK: Download: Multicast

protocol DownloadDelegate {
  func downloadDidFinish(_ download: Download)
}

// the example

// MARK: HandWritten: Foundation

struct LoginEvent: Sendable {
  let id: UInt
}

// the example

// MARK: Notifications: Foundation

extension Notification.Name {
  static let userLogin = Notification.Name("userLogin")
}

// the example

// MARK: Observer: Dispatch Multicast

nonisolated struct UserLogin: Sendable {
  let id: UInt
}
nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}
nonisolated extension Topic<Void> {
  static var logout: Self { Topic("logout") }
}

actor Store {
  var logins: [UserLogin] = []
  func add(_ login: UserLogin) {}
}

@MainActor final class Screen {
  let center = MulticastCenter()
  let store = Store()
  var badge = 0

  func show(_ id: UInt) {}
  func show(_ login: UserLogin) {}

  func appear() async {
    // the example
  }
}

// MARK: PackageDependency: PackageDescription

func dependency() -> Package.Dependency {
  // the example
}

// MARK: PackageTarget: PackageDescription

func target() -> Target {
  // the example
}

// MARK: Program: Dispatch Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

nonisolated protocol DocumentProtocol {
  func mayClose() -> Bool
}

nonisolated protocol ScanProtocol {
  func found(_ file: String)
}

nonisolated protocol StoreProtocol: Sendable {
  func store(_ userID: UInt) async
  func freeBytes() async -> Int
}

nonisolated final class Log: UserProtocol {
  func userLogin(_ userID: UInt) {}
}

let center = MulticastCenter()
let log = Log()
let files = ["a", "b"]

// the example

// MARK: Screens: Multicast

@MainActor protocol ScreenProtocol {
  func downloadDidProgress(to percent: Int)
}

let center = MulticastCenter()
let screens = MulticastDelegate<any ScreenProtocol>()

// the example

// MARK: Settling: Multicast

nonisolated struct UserLogin: Sendable {
  let id: UInt
}
nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

let center = MulticastCenter()

// the example

// MARK: Shims: Dispatch Multicast

// the example

// MARK: Stopping: Dispatch Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

nonisolated final class Writer: UserProtocol {
  func userLogin(_ userID: UInt) {}
}

nonisolated struct File: Sendable {
  func close() {}
}

nonisolated struct Records {
  let center = MulticastCenter()
  let writer = Writer()
  let file = File()

  // the example
}

// MARK: Testing: Multicast MulticastTesting Testing

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

nonisolated struct MailService: Sendable {
  let center: MulticastCenter
  func fetch() { Task { center.post(.userLogin, UserLogin(id: 19000)) } }
}

@Test func example() async throws {
  let center = MulticastCenter.recordable()
  // the example
}

// MARK: TestingSuite: Dispatch Multicast MulticastTesting Testing

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

nonisolated struct MailService: Sendable {
  var center = MulticastCenter.current
  func fetch() { Task { center.post(.userLogin, UserLogin(id: 19000)) } }
}

nonisolated struct Item: Sendable {
  let price: Int
}

nonisolated extension Topic where Message == Item {
  static var added: Self { Topic("added") }
  static var removed: Self { Topic("removed") }
}

@MainActor final class Basket {
  var total = 0
  nonisolated init(center: MulticastCenter) {}
}

// the example

// MARK: Timeline: Foundation Multicast MulticastFoundation

nonisolated func record(to url: URL) throws {
  // the example
  extendLifetime(center)
}

// MARK: Views: Multicast Observation SwiftUI

@MainActor protocol DownloadProtocol {
  func downloadDidProgress(to fraction: Double)
}

@Observable @MainActor final class DownloadModel: DownloadProtocol {
  private(set) var fraction = 0.0

  init(center: MulticastCenter = .default) { center.add(self, for: DownloadProtocol.self) }
  func downloadDidProgress(to fraction: Double) { self.fraction = fraction }
}

nonisolated struct Connection: Sendable {
  var isOnline = true
}
nonisolated extension Topic where Message == Connection {
  static var connection: Self { Topic("connection", keepsLatest: true) }
}

// the example
