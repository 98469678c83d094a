import Foundation
import Testing
import WaybillLedger
import WaybillModel
import WaybillTesting

#if canImport(Glibc)
  import Glibc
#endif

/// What a program that ran to its end came to.
struct ToolResult {
  let status: Int32
  let output: String
}

/// Runs a program found on the path and gives what it printed, errors included.
@discardableResult
func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ToolResult {
  let child = try ChildProcess(arguments, environment: environment)
  let output = child.readToEnd()
  return ToolResult(status: child.wait(), output: output)
}

/// Runs SQL through the `sqlite3` program, as a stranger with the file would.
@discardableResult
func sqlite3(_ database: String, _ sql: String) throws -> ToolResult {
  try run(["sqlite3", "-batch", database, sql])
}

/// Runs SQL that must succeed, and gives the lines it printed.
@discardableResult
func rows(_ database: String, _ sql: String) throws -> [String] {
  let result = try sqlite3(database, sql)
  try #require(result.status == 0, "sqlite3: \(result.output)")
  return result.output.split(separator: "\n").map(String.init)
}

/// Takes away what guards the log, as damage or a hostile tool would.
let withoutGuards = """
  DROP TRIGGER events_never_update; DROP TRIGGER events_never_delete;
  DROP TRIGGER events_never_replace;
  """

/// The permission bits of a file, without following a link.
func mode(_ path: String) throws -> UInt32 {
  var status = stat()
  try #require(lstat(path, &status) == 0, "no \(path)")
  return UInt32(status.st_mode) & 0o777
}

/// The length of a file; nil when it is not there.
func size(_ path: String) -> Int64? {
  var status = stat()
  return lstat(path, &status) == 0 ? Int64(status.st_size) : nil
}

/// The code of the error an operation ends with.
func code(
  of operation: () async throws -> Void
) async -> LedgerError.Code? {
  do {
    try await operation()
    return nil
  } catch {
    return (error as? LedgerError)?.code
  }
}

extension TemporaryLedger {
  /// Makes a ledger with the lives of some uploads, and closes it.
  func seed(_ lives: [UploadLife]) async throws {
    let ledger = try await open()
    for life in lives { try await life.append(to: ledger) }
    await ledger.close()
  }

  /// What `verify` finds right now, as its words.
  func findings() async throws -> Set<String> {
    let reader = try await reader()
    let report = try await reader.verify()
    await reader.close()
    return Set(report.findings.map(\.kind))
  }

  /// The kinds of all events of the ledger's own stream, in order.
  func ownEvents() async throws -> [String] {
    let reader = try await reader()
    let events = try await reader.events(EventQuery()).filter { $0.upload == nil }
    await reader.close()
    return events.map(\.kindName)
  }
}
