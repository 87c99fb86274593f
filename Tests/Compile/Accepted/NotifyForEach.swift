import Multicast

// Events are any collection of anything.

protocol ScanProtocol {
  func found(_ file: String)
  func counted(_ count: Int)
}

final class Node {
  var name = ""
}

func batches(center: MulticastCenter, delegates: MulticastDelegate<any ScanProtocol>) {
  let files = ["a", "b"]
  center.notify(ScanProtocol.self, forEach: files) { client, file in client.found(file) }
  center.notify(ScanProtocol.self, forEach: files) { $0.found($1) }
  center.notify(ScanProtocol.self, forEach: files, { $0.found($1) })
  center.notify(ScanProtocol.self, forEach: [1, 2]) { $0.counted($1) }
  center.notify(ScanProtocol.self, forEach: 1...4) { $0.counted($1) }
  center.notify(ScanProtocol.self, forEach: files.dropFirst()) { $0.found($1) }
  center.notify(ScanProtocol.self, forEach: Set(files)) { $0.found($1) }
  center.notify(ScanProtocol.self, forEach: files.lazy.map(\.count)) { $0.counted($1) }
  center.notify(ScanProtocol.self, forEach: "abc") { client, letter in
    client.found(String(letter))
  }
  center.notify(ScanProtocol.self, forEach: ["a": 1]) { client, sizeOfFile in
    client.found(sizeOfFile.key)
    client.counted(sizeOfFile.value)
  }
  center.notify(ScanProtocol.self, forEach: files.enumerated()) { client, event in
    client.counted(event.offset)
  }
  delegates.notify(forEach: files) { $0.found($1) }
  center[ScanProtocol.self].notify(forEach: files) { $0.found($1) }
  let called = delegates.notify(forEach: EmptyCollection<String>()) { $0.found($1) }
  print(called)
}

func batch<Files: Collection>(_ files: Files, center: MulticastCenter)
where Files.Element: StringProtocol {
  center.notify(ScanProtocol.self, forEach: files) { $0.found(String($1)) }
}

// Events need not be Sendable: they stay where they are.
func batch(_ nodes: [Node], center: MulticastCenter) async {
  center.notify(ScanProtocol.self, forEach: nodes) { client, node in
    client.found(node.name)
    node.name = ""
  }
  print(nodes.count)
}
