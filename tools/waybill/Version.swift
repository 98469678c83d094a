internal import WaybillEngine
internal import WaybillHash
internal import WaybillModel
internal import WaybillSQLite
internal import WaybillServer
internal import WaybillTrace

/// The versions of this program and of the libraries in its process.
enum Version {
  /// The version of waybill.
  static let waybill = "0.1.0"

  /// Each library with its version.
  static var libraries: [(name: String, version: String)] {
    var all = [
      ("SQLite", Connection.libraryVersion), ("LZ4", TraceFormat.libraryVersion),
      ("libmicrohttpd", WaybillServer.libraryVersion),
    ]
    #if os(Linux)
      all.append(("libcurl", CurlTransport.libraryVersion))
    #endif
    if let library = SHA256.library { all.append(library) }
    return all
  }

  /// Prints them, `waybill 0.1.0` first.
  static func show(isJSON: Bool, on output: Output) throws(Failure) -> ExitCode {
    if isJSON {
      try output.json(
        .object([
          .init("v", .integer(1)), .init("type", .text("version")),
          .init("waybill", .text(waybill)),
          .init("libraries", .object(libraries.map { .init($0.name, .text($0.version)) })),
        ]))
    } else {
      try output.line("waybill \(waybill)")
      for library in libraries { try output.line("\(library.name) \(library.version)") }
    }
    return .ok
  }
}
