import Foundation
import Testing
import WaybillModel
import WaybillServer

/// The description of the wire and the server that speaks on it say the same.
@Suite struct WireTests {
  private let description: [String]

  init() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../schema/http/openapi.yaml")
    description = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "\n")
  }

  private var operations: [(method: String, path: String)] {
    var operations: [(method: String, path: String)] = []
    var path = ""
    for line in description {
      if line.hasPrefix("  /") { path = String(line.dropFirst(2).dropLast()) }
      for method in ["get", "put", "post", "delete"] where line == "    \(method):" {
        operations.append((method.uppercased(), path))
      }
    }
    return operations
  }

  @Test func `every operation of the description is served`() throws {
    let host = try TestServer()
    #expect(operations.count == ServerEndpoint.allCases.count)
    for operation in operations {
      let path = operation.path.replacingOccurrences(of: "{part}", with: "0")
        .replacingOccurrences(of: "{uploadId}", with: "u-1")
        .replacingOccurrences(of: "{photoId}", with: "p-1")
      let answer = try host.call(operation.method, path)
      #expect(answer.status != 0 && answer.status != 405)
      #expect(answer.slug != "unknown-route", "\(operation)")
    }
    #expect(ServerEndpoint.allCases.allSatisfy { host.server.counts.requests($0) == 1 })
  }

  @Test func `every problem of the server is described with its status`() {
    var described: [String: Int] = [:]
    for line in description {
      guard let start = line.range(of: "- https://waybill.dev/problems/") else { continue }
      let words = line[start.upperBound...].split(separator: " ")
      described[String(words[0])] = Int(words[2]) ?? 0
    }
    described["rehearsed"] = nil
    let known = Dictionary(
      uniqueKeysWithValues: ProblemSlug.allCases.map { ($0.rawValue, $0.status) })
    #expect(described == known)
  }
}
