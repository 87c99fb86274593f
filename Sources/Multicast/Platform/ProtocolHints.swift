#if DEBUG
  /// A protocol as the runtime stores it, to ask from which protocols it inherits.
  ///
  /// The language can ask whether a class conforms to a protocol, and not whether a protocol inherits from another one. The
  /// compiler writes the answer into the protocol's descriptor, as requirements of its `Self`. This reads the descriptor as it
  /// is laid out in include/swift/ABI/Metadata.h of the Swift sources: see ``ExistentialType``. Pointers may be signed on
  /// arm64e, so nothing is read there.
  @safe struct RuntimeProtocol {
    private let descriptor: UnsafeRawPointer

    /// Returns nil if the type is not `any P` of one Swift protocol.
    init?(_ type: any Any.Type) {
      #if _ptrauth(_arm64e)
        return nil
      #else
        guard let address = ExistentialType(type)?.onlyProtocol, address & 1 == 0,
          let descriptor = unsafe UnsafeRawPointer(bitPattern: address),
          unsafe descriptor.load(as: UInt32.self) & 0x1F == 3
        else { return nil }
        unsafe self.descriptor = descriptor
      #endif
    }

    private init(at descriptor: UnsafeRawPointer) { unsafe self.descriptor = descriptor }

    /// Whether this protocol inherits from another one, directly or through others.
    func inherits(from other: RuntimeProtocol) -> Bool {
      let count = unsafe descriptor.load(fromByteOffset: 12, as: UInt32.self)
      return (0..<Int(count)).contains { index in
        let requirement = unsafe descriptor + 24 + 12 * index
        guard let base = unsafe Self.base(in: requirement) else { return false }
        return unsafe base.descriptor == other.descriptor || base.inherits(from: other)
      }
    }

    /// The protocol to which a requirement makes `Self` conform; nil if it says something else.
    private static func base(in requirement: UnsafeRawPointer) -> RuntimeProtocol? {
      // The kind of the requirement, and the name of its subject, which is mangled: `x` is `Self`.
      let isConformance = unsafe requirement.load(as: UInt32.self) & 0x1F == 0
      let subject =
        unsafe requirement + 4 + Int(requirement.load(fromByteOffset: 4, as: Int32.self))
      guard isConformance, unsafe subject.load(as: UInt8.self) == UInt8(ascii: "x"),
        unsafe subject.load(fromByteOffset: 1, as: UInt8.self) == 0
      else { return nil }
      // A distance. The lowest bit marks the address of a pointer, and the next one a protocol of Objective-C.
      let distance = unsafe requirement.load(fromByteOffset: 8, as: Int32.self)
      if distance & 2 != 0 { return nil }
      let target = unsafe requirement + 8 + Int(distance & ~3)
      return unsafe RuntimeProtocol(
        at: distance & 1 == 0 ? target : target.load(as: UnsafeRawPointer.self))
    }
  }
#endif
