#if os(Linux)
  import Foundation
  import Testing

  /// The order of system calls, as the kernel saw them.
  @Suite struct DurableIntentTests {
    /// Whether programs may be traced here: strace is there and the kernel lets it.
    static var canTrace: Bool {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/strace")
      process.arguments = ["-o", "/dev/null", "/bin/true"]
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }

    @Test(.enabled(if: canTrace))
    func `intent is on stable storage before the first byte leaves`() async throws {
      let rig = try Rig()
      let trace = rig.path("trace")
      let push = try rig.start(
        "push", try rig.file("a.jpg"), "--to", rig.url,
        through: [
          "strace", "-f", "-y", "-s", "8192", "-o", trace, "-e",
          "trace=pwrite64,write,writev,fsync,fdatasync,sendto,sendmsg,sendfile",
        ])
      #expect(push.end().status == 0)
      var story = Story()
      for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
        story.read(line)
      }
      #expect(story.order == ["intent written", "intent synced", "part sent"])
    }

    /// Reads a trace line by line and keeps the order of what matters.
    private struct Story {
      private(set) var order: [String] = []
      /// Threads inside a sync of the write-ahead log that began after the intent was written.
      private var syncing: Set<Substring> = []

      mutating func read(_ line: Substring) {
        let thread = line.prefix { $0 != " " }
        let call = line.dropFirst(thread.count).drop { $0 == " " }
        let isOnLog = call.contains("ledger.sqlite-wal>")
        if call.hasPrefix("pwrite64("), isOnLog, call.contains("upload.queued") {
          note("intent written")
        } else if call.hasPrefix("fdatasync(") || call.hasPrefix("fsync("), isOnLog,
          order.contains("intent written")
        {
          syncing.insert(thread)
        } else if call.contains(#""PUT /v1/uploads/"#) {
          note("part sent")
        }
        // The end of a call is on the line of its beginning or on one that resumes it.
        if syncing.contains(thread), call.contains("sync"), call.hasSuffix(" = 0") {
          syncing.remove(thread)
          note("intent synced")
        }
      }

      private mutating func note(_ what: String) {
        if !order.contains(what) { order.append(what) }
      }
    }
  }
#endif
