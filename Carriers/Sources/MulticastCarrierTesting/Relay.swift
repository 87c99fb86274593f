import Foundation
import MulticastCarrier
import Synchronization

/// Stands between carriers and an engine, and cuts or silences their connections.
public final class Relay: Sendable {
  /// Two sockets, and whether received bytes are discarded.
  private final class Pair: Sendable {
    let client, server: Int32
    let isSilent = Atomic(false)
    /// The number of bytes that it forwards in a second.
    let rate: Int
    /// The number of its threads that have ended. After both have ended, the system may reuse the sockets' numbers.
    private let ended = Locked(0)

    init(_ client: Int32, _ server: Int32, _ rate: Int) {
      (self.client, self.server, self.rate) = (client, server, rate)
    }

    /// Copies until one side ends, on its own thread. The second thread that ends closes both sockets.
    func copy(from source: Int32, to target: Int32) {
      Thread.detachNewThread {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        loop: while true {
          let count = unsafe recv(source, &bytes, bytes.count, 0)
          guard count > 0 else { break }
          if self.isSilent.load(ordering: .relaxed) { continue }
          if self.rate < .max { usleep(UInt32(1_000_000 * count / self.rate)) }
          var sent = 0
          while sent < count {
            let more = unsafe bytes[sent..<count].withUnsafeBytes { rest in
              unsafe send(target, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { break loop }
            sent += more
          }
        }
        self.end()
        self.ended.withLock { ended in
          ended += 1
          if ended == 2 { for socket in [self.client, self.server] { close(socket) } }
        }
      }
    }

    func end() {
      ended.withLock { ended in
        if ended < 2 { for socket in [client, server] { shutdown(socket, Int32(SHUT_RDWR)) } }
      }
    }
  }

  /// The port to which carriers connect.
  public let port: Int
  private let listener: Int32
  private let pairs = Locked<[Pair]>([])

  /// - Parameters:
  ///   - target: The engine's port.
  ///   - rate: The number of bytes that each direction of a connection forwards in a second.
  public init(to target: Int, rate: Int = .max) throws {
    port = try Engine.freePort()
    listener = try unsafe Relay.socket(port) { unsafe bind($0, $1, $2) }
    listen(listener, 16)
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        guard let server = try? unsafe Relay.socket(target, { unsafe connect($0, $1, $2) }) else {
          close(client)
          continue
        }
        let pair = Pair(client, server, rate)
        pairs.withLock { $0.append(pair) }
        pair.copy(from: client, to: server)
        pair.copy(from: server, to: client)
      }
      close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    cut()
  }

  private static func socket(
    _ port: Int, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    #if canImport(Glibc)
      let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe use(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      close(socket)
      throw Program.Failure(description: "No socket for port \(port): \(errno)")
    }
    return socket
  }

  /// Ends all connections.
  public func cut() { for pair in take() { pair.end() } }

  /// Forwards no more bytes through the present connections, without ending them.
  public func silence() { for pair in take() { pair.isSilent.store(true, ordering: .relaxed) } }

  private func take() -> [Pair] {
    pairs.withLock { pairs in
      defer { pairs = [] }
      return pairs
    }
  }
}
