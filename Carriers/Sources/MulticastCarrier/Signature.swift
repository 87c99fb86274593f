import Crypto

/// The signature at the end of a record: the epoch of the log for which the record was signed, and an HMAC of the log's
/// names and everything before the HMAC.
///
/// The names and the epoch keep a record from being copied to another log. Within its log, the numbers of its sender
/// show that it has come before.
extension Frame {
  /// The bit in both format numbers that says that the record is signed. Versions without signatures report a record
  /// with it as too new.
  static let signed: UInt8 = 0x80
  static let signatureSize = epochSize + SHA256.byteCount
  private static let epochSize = 8

  /// Signs a record.
  static func sign(_ record: [UInt8], for log: Log, epoch: UInt64, _ key: SymmetricKey) -> [UInt8] {
    var record = record
    for index in 2...3 { record[index] |= signed }
    for shift in stride(from: 0, to: 64, by: 8) {
      record.append(UInt8(truncatingIfNeeded: epoch >> UInt64(shift)))
    }
    return record + HMAC<SHA256>.authenticationCode(for: names(log) + record, using: key)
  }

  /// Checks the signature of a record, and returns the record without it, and the epoch of the log for which it was
  /// signed; nil if it is not signed.
  ///
  /// - Parameter keys: The keys that are accepted; nil for records without a signature.
  static func open(
    _ record: [UInt8], from log: Log, _ keys: [SymmetricKey?]
  ) throws(Malformed) -> (record: [UInt8], epoch: UInt64?) {
    guard record[2] & signed > 0 else {
      if keys.contains(where: { $0 == nil }) { return (record, nil) }
      throw Malformed(description: "A record without a signature.")
    }
    let keys = keys.compactMap(\.self)
    guard !keys.isEmpty else {
      throw Malformed(description: "A record with a signature, and this process has no key.")
    }
    guard record.count > signatureSize + 4 else { throw Malformed() }
    let content = record.dropLast(SHA256.byteCount)
    let (code, all) = (record.suffix(SHA256.byteCount), names(log) + content)
    guard
      keys.contains(where: {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: all, using: $0)
      })
    else { throw Malformed(description: "A record with a wrong signature.") }
    let epoch = content.suffix(epochSize).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    var frame = Array(content.dropLast(epochSize))
    for index in 2...3 { frame[index] &= ~signed }
    return (frame, epoch)
  }

  /// Everything that makes a log another one, except its epoch. Each text follows its size, so that no two logs have the
  /// same bytes.
  private static func names(_ log: Log) -> [UInt8] {
    [log.prefix, log.type, log.keepsLatest ? "latest" : "log"].reduce(into: []) {
      $0.append(chunk: $1.utf8)
    }
  }
}
