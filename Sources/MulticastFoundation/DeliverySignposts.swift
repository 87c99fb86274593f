#if canImport(os)
  import Multicast
  import os

  /// Returns a callback for `onDelivery` that shows deliveries in Instruments: every pass as an interval,
  /// every call as a point.
  ///
  /// ```text
  /// let center = MulticastCenter(onDelivery: deliverySignposts())
  /// ```
  ///
  /// While Instruments does not record, the callback does nothing.
  ///
  /// - Parameter signposter: One for each center, because passes of two centers have the same numbers. By
  ///   default, the points of interest of a subsystem named Multicast.
  /// - Returns: A callback for `onDelivery`.
  @available(macOS 12, iOS 15, tvOS 15, watchOS 8, *)
  public func deliverySignposts(
    to signposter: OSSignposter = .init(subsystem: "Multicast", category: .pointsOfInterest)
  ) -> @Sendable (DeliveryEvent) -> Void {
    { event in
      guard signposter.isEnabled else { return }
      // An id must be neither 0 nor the largest number. Passes are numbered from 1.
      let id = OSSignpostID(event.pass)
      switch event.phase {
      case .began:
        _ = signposter.beginInterval(
          "Delivery", id: id, "\(event.description, privacy: .public)")
      case .ended:
        // The name and the id identify the interval, so its state need not be stored between the events.
        signposter.endInterval(
          "Delivery", .beginState(id: id), "\(event.description, privacy: .public)")
      case .called, .left, .refused:
        signposter.emitEvent("Delivery", id: id, "\(event.description, privacy: .public)")
      }
    }
  }
#endif
