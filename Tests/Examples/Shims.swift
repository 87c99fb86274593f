import Dispatch
import Multicast

// the example
