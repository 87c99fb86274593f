import Multicast

func makeCenter(
  reportingUnheard report: @escaping @Sendable (String) -> Void
) -> MulticastCenter {
  MulticastCenter(onDelivery: { event in
    if event.isUnheard { report("\(event.way) \(event.key), at \(event.site)") }
  })
}
