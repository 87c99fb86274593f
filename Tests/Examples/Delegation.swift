import Dispatch
import Multicast

protocol PlayerDelegate: AnyObject {
  func playerDidStop(_ player: Player)
  func playerMayStop(_ player: Player) -> Bool
}

// the example
