/// An existential type, such as `any P` or `any P & AnyObject`, as the runtime stores it.
///
/// The language can cast a value to such a type, and can ask nothing about the type itself. So this reads its metadata, as it
/// is laid out in include/swift/ABI/Metadata.h (`TargetExistentialTypeMetadata`) and MetadataValues.h (`ExistentialTypeFlags`)
/// of the Swift sources: the kind, the flags, the number of protocols, a superclass if there is one, and the protocols. On
/// Apple's systems, the layout is part of the stable ABI. On other systems, the runtime comes with the compiler. Only the
/// protocols, and the word that a class has in place of a kind, may be signed; that word is only compared.
@safe struct ExistentialType {
  private let metadata: UnsafeRawPointer

  /// Returns nil for other types, and for `any P<Int>` and `any P.Type`, which have kinds of their own and no box.
  init?(_ type: any Any.Type) {
    let metadata = unsafe unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard unsafe metadata.load(as: UInt.self) == 0x303 else { return nil }
    unsafe self.metadata = metadata
  }

  private var flags: UInt32 {
    unsafe metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self)
  }

  /// Whether the runtime keeps a value of this type in a box, as those of `any Error`: a number in the flags stands for a
  /// special protocol, and `Error` is the only one.
  ///
  /// `any Error & AnyObject` is such a type, and so is `SomeClass & Error`, for which the compiler and the runtime even disagree
  /// about the layout.
  var isBoxed: Bool { flags & 0x3F00_0000 != 0 }

  #if DEBUG
    /// The protocol, as the runtime stores it, if the type is `any P` of one protocol and has no superclass. Its lowest bit marks a
    /// protocol of Objective-C. On arm64e, the pointer may be signed.
    var onlyProtocol: UInt? {
      let word = MemoryLayout<UInt>.size
      let hasSuperclass = flags & 0x4000_0000 != 0
      let count = unsafe metadata.load(fromByteOffset: word + 4, as: UInt32.self)
      guard !hasSuperclass, count == 1 else { return nil }
      return unsafe metadata.load(fromByteOffset: word + 8, as: UInt.self)
    }
  #endif
}
