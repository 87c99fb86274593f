import Dispatch
import Foundation
import Multicast
import TestSupport
import Testing

private protocol UserProtocol {}
private protocol NobodyProtocol {}

private final class ProfileScreen: UserProtocol {}
private final class Badge: UserProtocol {}
private final class AuditLog: UserProtocol, Sendable {}
private final class `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`: UserProtocol, Sendable {}

private struct Mail: Sendable {}

/// Text and flowchart of a wiring.
@Suite struct DrawingTests {
  private let center = MulticastCenter()

  private func expect(
    text expectedText: String, flowchart: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let wiring = center.wiring
    // Only a debug build knows the places of observers.
    let text = "\(wiring)\n".replacing(/, MulticastTests\/DrawingTests.swift:[0-9:]+/, with: "")
    #expect(text == expectedText, sourceLocation: sourceLocation)
    #expect(wiring.mermaid == flowchart, sourceLocation: sourceLocation)
  }

  @Test func anEmptyCenter() {
    expect(
      text: ##"""
        MulticastCenter: not in use

        """##,
      flowchart: ##"""
        flowchart LR

        """##)
  }

  @Test func aCenterThatIsInUse() async {
    let clients: [any UserProtocol] = [ProfileScreen(), Badge(), Badge(), AuditLog()]
    let screen = await MainActor.run { Screen() }
    let log = AuditLog()
    let logs = (0..<2).map { _ in AuditLog() }
    defer { extendLifetime((clients, screen, log, logs)) }
    for client in clients { center.add(client, for: UserProtocol.self) }
    _ = center[(any NobodyProtocol).self]
    center.observe(Topic<Mail>("mail"), owner: log, id: "all") { _, _ in }
    await MainActor.run {
      _ = center.observe(Topic<Mail>("mail"), owner: screen) { screen, _ in screen.shown.append(1) }
    }
    for log in logs {
      center.observe(Topic<Mail>("mail"), owner: log, on: DispatchQueue(label: "disk")) { _, _ in }
    }
    center.observe(Topic<Mail>(), owner: log) { _, _ in await Task.yield() }
    expect(
      text: ##"""
        MulticastCenter
          UserProtocol: 4 clients
            ProfileScreen, posting thread
            Badge, posting thread, × 2
            AuditLog, posting thread
          NobodyProtocol: no clients
          Topic<Mail>(): 1 observer
            AuditLog, task
          Topic<Mail>("mail"): 4 observers
            AuditLog, posting thread, id all
            Screen, MainActor
            AuditLog, queue disk, × 2

        """##,
      flowchart: ##"""
        flowchart LR
          protocol0{{"UserProtocol"}}
          type0["ProfileScreen"]
          type1["Badge"]
          type2["AuditLog"]
          protocol1{{"NobodyProtocol"}}
          topic0(["Topic#60;Mail#62;()"])
          topic1(["Topic#60;Mail#62;(#34;mail#34;)"])
          type3["Screen"]
          protocol0 -->|"posting thread"| type0
          protocol0 -->|"× 2 · posting thread"| type1
          protocol0 -->|"posting thread"| type2
          topic0 -->|"task"| type2
          topic1 -->|"posting thread · id all"| type2
          topic1 -->|"MainActor"| type3
          topic1 -->|"× 2 · queue disk"| type2

        """##)
  }

  @Test func oddNames() {
    let odd = kept(`a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`())
    center.add(odd, for: UserProtocol.self)
    let names = [
      "quotes \" ' ` and \\ backslashes \\n",
      "lines\r\n\u{2028}\t\u{7} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0",
      "\"\u{301} combined",
      "<script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\\LaTeX$",
      "%%{init: {}}%%", "1. list", "",
    ]
    for name in names {
      center.observe(Topic<Mail>(name), owner: odd, id: name, on: DispatchQueue(label: name)) {
        _, _ in
      }
    }
    expect(
      text: ##"""
        MulticastCenter
          UserProtocol: 1 client
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, posting thread
          Topic<Mail>(): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue, id ""
          Topic<Mail>("\"\u{0301} combined"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue "́ combined, id "́ combined
          Topic<Mail>("%%{init: {}}%%"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue %%{init: {}}%%, id %%{init: {}}%%
          Topic<Mail>("1. list"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue 1. list, id 1. list
          Topic<Mail>("<script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\\LaTeX$"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue <script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\LaTeX$, id <script>&amp;#quot; `Markdown` **is** _not_ read ]) --> end; %% {{}} | $\LaTeX$
          Topic<Mail>("lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ, id lines\r\n\u{2028}\t\u{07} \u{202E}reversed\u{200B} 👩‍👩‍👧 é ﬁ\0
          Topic<Mail>("quotes \" \' ` and \\ backslashes \\n"): 1 observer
            `a "type" [with] {odd} & <b>|;#35;%% letters: é, 名前`, queue quotes " ' ` and \ backslashes \n, id quotes " ' ` and \ backslashes \n

        """##,
      flowchart: ##"""
        flowchart LR
          protocol0{{"UserProtocol"}}
          type0["#96;a #34;type#34; #91;with#93; #123;odd#125; #38; #60;b#62;#124;#59;#35;35#59;#37;#37; letters: é, 名前#96;"]
          topic0(["Topic#60;Mail#62;()"])
          topic1(["Topic#60;Mail#62;(#34;#92;#34;#92;u#123;0301#125; combined#34;)"])
          topic2(["Topic#60;Mail#62;(#34;#37;#37;#123;init: #123;#125;#125;#37;#37;#34;)"])
          topic3(["Topic#60;Mail#62;(#34;1. list#34;)"])
          topic4(["Topic#60;Mail#62;(#34;#60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;#92;LaTeX#36;#34;)"])
          topic5(["Topic#60;Mail#62;(#34;lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ#92;0#34;)"])
          topic6(["Topic#60;Mail#62;(#34;quotes #92;#34; #92;#39; #96; and #92;#92; backslashes #92;#92;n#34;)"])
          protocol0 -->|"posting thread"| type0
          topic0 -->|"queue · id #34;#34;"| type0
          topic1 -->|"queue #34;́ combined · id #34;́ combined"| type0
          topic2 -->|"queue #37;#37;#123;init: #123;#125;#125;#37;#37; · id #37;#37;#123;init: #123;#125;#125;#37;#37;"| type0
          topic3 -->|"queue 1. list · id 1. list"| type0
          topic4 -->|"queue #60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;LaTeX#36; · id #60;script#62;#38;amp#59;#35;quot#59; #96;Markdown#96; #42;#42;is#42;#42; #95;not#95; read #93;) #45;#45;#62; end#59; #37;#37; #123;#123;#125;#125; #124; #36;#92;LaTeX#36;"| type0
          topic5 -->|"queue lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ · id lines#92;r#92;n#92;u#123;2028#125;#92;t#92;u#123;07#125; #92;u#123;202E#125;reversed#92;u#123;200B#125; 👩‍👩‍👧 é ﬁ#92;0"| type0
          topic6 -->|"queue quotes #34; #39; #96; and #92; backslashes #92;n · id quotes #34; #39; #96; and #92; backslashes #92;n"| type0

        """##)
  }
}
