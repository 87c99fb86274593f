// The macro looks for the module Observation, which no name of ours may hide.
import Multicast
import Observation

@Observable final class Model {
  var number = 0
}
