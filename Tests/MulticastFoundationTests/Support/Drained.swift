#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// Runs `body`, and releases what Foundation keeps for the caller meanwhile.
///
/// On Apple's platforms, `addObserver(forName:)` may leave its token, and with it the block, in an
/// autorelease pool. Who looks whether a relay's block is gone has to empty that.
func drained<Result>(_ body: () -> Result) -> Result {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}
