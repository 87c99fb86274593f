import Multicast

let center = MulticastCenter()

// the example
