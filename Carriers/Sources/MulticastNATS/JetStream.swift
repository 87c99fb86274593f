import CNATS

/// What the server has refused, in its own words.
struct Refusal: Error, CustomStringConvertible {
  let description: String

  /// Throws unless all is well.
  static func check(_ status: natsStatus) throws {
    guard status == NATS_OK else {
      let hint = status == NATS_NO_RESPONDERS ? ". Perhaps it runs without JetStream." : ""
      throw Refusal(description: "The server refuses a stream: \(reason(of: status))\(hint)")
    }
  }
}

/// The stream, and how it is made.
struct JetStream: Sendable {
  let name: String
  let length: Int
  let inMemory: Bool

  func subject(_ subject: String) -> String { "stored.\(name).\(subject)" }

  static func context(_ connection: OpaquePointer) throws -> OpaquePointer {
    var options = unsafe jsOptions()
    unsafe jsOptions_Init(&options)
    unsafe options.Wait = 2_000
    var context: OpaquePointer?
    try unsafe Refusal.check(natsConnection_JetStream(&context, connection, &options))
    guard let context = unsafe context else { throw Refusal(description: "There is no JetStream.") }
    return unsafe context
  }

  /// The epoch of the stream, and the number of its last payload.
  func state(_ context: OpaquePointer) throws -> (epoch: String, last: UInt64) {
    var info: UnsafeMutablePointer<jsStreamInfo>?
    var status = unsafe js_GetStreamInfo(&info, context, name, nil, nil)
    // If another process is faster, the server finds that it is the same.
    if status == NATS_NOT_FOUND { status = unsafe make(&info, context) }
    try Refusal.check(status)
    defer { unsafe jsStreamInfo_Destroy(info) }
    guard let state = unsafe info?.pointee else {
      throw Refusal(description: "There is no stream.")
    }
    return unsafe ("\(state.Created)", state.State.LastSeq)
  }

  private func make(
    _ info: inout UnsafeMutablePointer<jsStreamInfo>?, _ context: OpaquePointer
  ) -> natsStatus {
    var configuration = unsafe jsStreamConfig()
    unsafe jsStreamConfig_Init(&configuration)
    unsafe configuration.MaxMsgsPerSubject = Int64(length)
    unsafe configuration.Storage = inMemory ? js_MemoryStorage : js_FileStorage
    return unsafe name.withCString { name in
      unsafe subject(">").withCString { subject in
        var subjects: [UnsafePointer<CChar>?] = unsafe [subject]
        return unsafe subjects.withUnsafeMutableBufferPointer { subjects in
          unsafe configuration.Name = name
          unsafe configuration.Subjects = subjects.baseAddress
          unsafe configuration.SubjectsLen = 1
          return unsafe js_AddStream(&info, context, &configuration, nil, nil)
        }
      }
    }
  }
}
