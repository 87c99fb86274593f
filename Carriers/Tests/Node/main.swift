// Attacks real engines: `Node <attack> <nats or redis>`. Prints how many messages were lost, received twice, out of
// order, and reported.

import Foundation
import Multicast
import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, let kind = Engine.Kind(rawValue: words[1]) else {
  print(
    """
    usage: Node <attack> nats|redis
    killed   3 × 2,000 messages a second for 20 s, the engine is killed for 10 s
    kills    the same, and the engine is killed eight times
    stopped  the same, and the engine stands still for 12 s
    resets   the same, and all connections are cut 40 times
    stuck    3,000 messages a second for 30 s, and one handler is stuck meanwhile
    short    the same, and the log is too short for that
    forged   500 messages a second for 10 s, and 6,000 forged, changed and huge records
    topics   100,000 topics, each for one message
    measure  processor time and latency, in JSON
    plain    the same with a codec that knows the type
    """)
  exit(2)
}
let attack = Attack(kind)
switch words[0] {
case "killed": try await attack.killed()
case "kills": try await attack.kills()
case "stopped": try await attack.stopped()
case "resets": try await attack.resets()
case "stuck": try await attack.stuck(isShort: false)
case "short": try await attack.stuck(isShort: true)
case "forged": try await attack.forged()
case "topics": try await attack.topics()
case "receive": try await attack.receive(port: Int(words[2]) ?? 0, codec: words[3])
case "measure": try await attack.measure(codec: "json")
case "plain": try await attack.measure(codec: "plain")
default: print("There is no attack \(words[0]).")
}
