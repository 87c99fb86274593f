import Multicast

// Answers may be anything, and their type follows from the body.

protocol DocumentProtocol {
  func mayClose() -> Bool
  func title() -> String
}

final class Summary {
  var titles: [String] = []
}

func ask(center: MulticastCenter, delegates: MulticastDelegate<any DocumentProtocol>) {
  let mayClose = center.map(DocumentProtocol.self) { $0.mayClose() }.allSatisfy { $0 }
  if center.map(DocumentProtocol.self, { $0.mayClose() }).contains(false) { print(mayClose) }
  let titles: [String] = delegates.map { $0.title() }
  let lengths = center[DocumentProtocol.self].map { $0.title().count }.reduce(0, +)
  let open = center.map(DocumentProtocol.self) { $0.mayClose() ? nil : $0.title() }
  print(titles, lengths, open.compactMap { $0 })

  for (client, title) in center.map(DocumentProtocol.self, { ($0, $0.title()) }) {
    print(client.mayClose(), title)
  }
  let clients: [any DocumentProtocol] = delegates.map { $0 }
  print(clients.count)
  let longTitles = delegates.map { client -> String? in
    let title = client.title()
    return title.count > 100 ? title : nil
  }
  print(longTitles)
}

// Answers that are not Sendable stay where they are, in an asynchronous function too.
func summaries(center: MulticastCenter) async -> [Summary] {
  let summary = Summary()
  let summaries = center.map(DocumentProtocol.self) { client in
    summary.titles.append(client.title())
    return summary
  }
  summary.titles.removeAll()
  return summaries
}
