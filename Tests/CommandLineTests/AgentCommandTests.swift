#if os(Linux)
  import Foundation
  import Glibc
  import Testing
  import WaybillModel
  import WaybillServer

  /// The agent as the process it is: killed, stopped, started on demand.
  @Suite(.timeLimit(.minutes(4)))
  struct AgentCommandTests {
    @Test func `transfers of a push that is killed finish, and the next one records each once`()
      async throws
    {
      let rig = try AgentProcessRig(faults: "part#1-4:delay=15000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 64), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 4 }
      push.send(SIGKILL)
      #expect(await AgentProcessRig.end(of: push).status == -SIGKILL)
      try await rig.until { try await rig.agent()["results"]?.integer == 4 }
      #expect(rig.server.counts.requests(.part) == 4)

      let next = try await rig.run("push", "--background")
      #expect(next.status == 0, "\(next.errors)")
      #expect(next.output == "1 upload committed\n")
      let kinds = try await rig.kinds()
      #expect(kinds["part.sent"] == 64 && kinds["part.confirmed"] == 64)
      #expect(kinds["transfer.lost"] == nil && kinds["part.failed"] == nil)
      #expect(rig.server.counts.requests(.part) == 64)
      #expect(rig.server.counts.partBodyBytes == 64 * 65_536)
      #expect(try await rig.agent()["results"]?.integer == 0)
      #expect(try await rig.run("verify").status == 0)
    }

    @Test func `transfers that still run are adopted by the next push`() async throws {
      let rig = try AgentProcessRig(faults: "part#1-4:delay=15000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 4), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 4 }
      push.send(SIGINT)
      let ended = await AgentProcessRig.end(of: push)
      #expect(ended.status == 130)
      #expect(ended.errors.contains("parts on their way go on, run 'waybill push --background'"))
      #expect(try await rig.run("push", "--background").output == "1 upload committed\n")
      #expect(rig.server.counts.partBodyBytes == 4 * 65_536)
      #expect(try await rig.kinds()["transfer.lost"] == nil)
    }

    @Test func `when push and agent are killed only parts in flight are sent again`() async throws {
      let rig = try AgentProcessRig(faults: "part#9-12:delay=60000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 16), "--to", rig.url)
      try await rig.until {
        try await rig.kinds()["part.confirmed"] == 8 && rig.server.counts.requests(.part) == 12
      }
      let agent = try #require(try await rig.agent()["process"]?.integer)
      push.send(SIGKILL)
      kill(pid_t(agent), SIGKILL)
      #expect(await AgentProcessRig.end(of: push).status == -SIGKILL)
      try rig.replaceServer()
      let next = try await rig.run("push", "--background")
      #expect(next.output == "1 upload committed\n", "\(next.errors)")
      let kinds = try await rig.kinds()
      #expect(kinds["transfer.lost"] == 4 && kinds["part.sent"] == 20)
      // The four that were in flight, and the four that had never been sent.
      #expect(rig.server.counts.requests(.part) == 8)
      #expect(rig.server.counts.partBodyBytes == 8 * 65_536)
      #expect(try await rig.agent()["process"]?.integer != agent)
    }

    @Test func `an agent that is killed is replaced and the running push goes on`() async throws {
      let rig = try AgentProcessRig(faults: "part#3-6:delay=15000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 8), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 6 }
      let agent = try #require(try await rig.agent()["process"]?.integer)
      kill(pid_t(agent), SIGKILL)
      let ended = await AgentProcessRig.end(of: push)
      #expect(ended.status == 0, "\(ended.errors)")
      #expect(ended.output.hasSuffix("1 upload committed\n"))
      #expect(try await rig.kinds()["part.confirmed"] == 8)
      #expect(try await rig.agent()["process"]?.integer != agent)
    }

    @Test func `stop with cancel is a force quit, and the next push asks before it sends`()
      async throws
    {
      let rig = try AgentProcessRig(faults: "part#1-4:delay=60000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 4), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 4 }
      push.send(SIGKILL)
      _ = await AgentProcessRig.end(of: push)
      let stopped = try await rig.run("agent", "stop", "--cancel")
      #expect(stopped.status == 0)
      #expect(stopped.errors == "waybill: 4 transfers cancelled\n")
      #expect(try await rig.run("agent", "status").output == "no agent runs\n")
      try rig.replaceServer()
      #expect(try await rig.run("push", "--background").output == "1 upload committed\n")
      #expect(try await rig.kinds()["transfer.lost"] == 4)
      #expect(rig.server.counts.requests(.status) > 0)
      #expect(rig.server.counts.requests(.part) == 4)
    }

    @Test func `stop waits for what runs, and a running push goes on with a new agent`()
      async throws
    {
      let rig = try AgentProcessRig(faults: "part#1-4:delay=9000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 8), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 4 }
      let first = try await rig.agent()["process"]?.integer
      let stopped = try await rig.run("agent", "stop")
      #expect(stopped.errors == "waybill: 4 transfers to finish\n")
      #expect(await AgentProcessRig.end(of: push).status == 0)
      #expect(rig.server.counts.requests(.part) == 8)
      #expect(try await rig.kinds()["part.failed"] == nil)
      #expect(try await rig.agent()["process"]?.integer != first)
    }

    @Test func `two pushes at once start one agent`() async throws {
      let rig = try AgentProcessRig()
      let files = [try rig.file("a.jpg", 2), try rig.file("b.jpg", 2)]
      let pushes = try files.map { file in
        try rig.start("push", "--background", file, "--to", rig.url, "--ledger", file + ".ledger")
      }
      for push in pushes { #expect(await AgentProcessRig.end(of: push).status == 0) }
      let agent = try await rig.agent()
      #expect(agent["running"]?.bool == true && agent["transfers"]?.integer == 0)
      let second = try await rig.run("agent")
      #expect(second.status == 11)
      #expect(second.errors.contains("an agent runs already"))
      let started = try rig.agentProcesses()
      #expect(started.count == 1, "\(started)")
    }

    @Test func `an agent inherits nothing and the credential is nowhere but in its memory`()
      async throws
    {
      let rig = try AgentProcessRig(faults: "part#1-2:delay=15000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 2), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 2 }
      let agent = try #require(try await rig.agent()["process"]?.integer)
      let process = "/proc/\(agent)"
      for file in ["environ", "cmdline"] {
        let bytes = try #require(FileManager.default.contents(atPath: "\(process)/\(file)"))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.isEmpty && !text.contains(AgentProcessRig.token))
      }
      let files = FileManager.default
      #expect(try files.destinationOfSymbolicLink(atPath: process + "/cwd") == "/")
      for number in 0...2 {
        let target = try files.destinationOfSymbolicLink(atPath: "\(process)/fd/\(number)")
        #expect(target == "/dev/null")
      }
      #expect(getsid(pid_t(agent)) == pid_t(agent))
      push.send(SIGKILL)
      _ = await AgentProcessRig.end(of: push)
      try await rig.until { try await rig.agent()["results"]?.integer == 2 }
      // What it wrote is there to be searched, and holds no credential.
      let state = try files.contentsOfDirectory(atPath: rig.agentFolder)
      #expect(Set(state) == ["agent.lease", "agent.results", "agent.socket"])
      let results = try String(contentsOfFile: rig.agentFolder + "/agent.results", encoding: .utf8)
      #expect(results.contains("\"task\""))
      for word in [AgentProcessRig.token, "Bearer", "127.0.0.1", "/v1/uploads"] {
        #expect(!results.contains(word), "\(word)")
      }
      #expect(try await rig.run("push", "--background").status == 0)
    }

    @Test func `an agent that has nothing to do ends by itself`() async throws {
      let rig = try AgentProcessRig()
      let agent = try rig.start("agent", "--idle", "1s")
      #expect(agent.waitForError("the agent listens in \(rig.agentFolder)"))
      #expect(await AgentProcessRig.end(of: agent).status == 0)
      #expect(try await rig.run("agent", "status").output == "no agent runs\n")
      #expect(try await rig.run("agent", "stop").errors == "waybill: no agent runs\n")
    }

    @Test func `an agent that the system ends leaves its place clean`() async throws {
      let rig = try AgentProcessRig(faults: "part#1:delay=60000")
      let push = try rig.start("push", "--background", try rig.file("a.jpg", 1), "--to", rig.url)
      try await rig.until { rig.server.counts.requests(.part) == 1 }
      push.send(SIGKILL)
      _ = await AgentProcessRig.end(of: push)
      let agent = try #require(try await rig.agent()["process"]?.integer)
      kill(pid_t(agent), SIGTERM)
      try await rig.until { try await rig.agent()["running"]?.bool == false }
      let left = try FileManager.default.contentsOfDirectory(atPath: rig.agentFolder)
      #expect(Set(left) == ["agent.lease", "agent.results"])
    }

    @Test func `an action that is none is a usage error`() async throws {
      let rig = try AgentProcessRig()
      let ended = try await rig.run("agent", "strat")
      #expect(ended.status == 2)
      #expect(ended.errors.contains("agent has no action 'strat'; there are status and stop"))
    }
  }
#endif
