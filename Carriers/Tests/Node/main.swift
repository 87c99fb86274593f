// A process of the tests: `Node simulate`, `Node run` or `Node measure`.

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "simulate":
  let numbers = words.dropFirst().compactMap { UInt64($0) }
  simulate(seeds: Int(numbers.first ?? 1_000), from: numbers.dropFirst().first ?? 0)
case "run": try await run(Options(words.dropFirst()))
case "measure": try await measure(Options(words.dropFirst()))
case "send": try await send(Options(words.dropFirst()))
case "receive": try await receive(Options(words.dropFirst()))
default:
  print(
    """
    usage: Node simulate [<seeds> [<first seed>]] | measure [count=<n>] | run <option>=<value>…
    """)
}
