internal import CLZ4
internal import CMicroHTTPD
internal import WaybillModel
internal import WaybillSQLite

#if os(Linux)
  internal import CCrypto
  internal import CCurl
#endif

/// The versions of this program and of the libraries in its process.
enum Version {
  /// The version of waybill.
  static let waybill = "0.1.0"

  /// Each library with its version.
  static var libraries: [(name: String, version: String)] {
    var all = [
      ("SQLite", Connection.libraryVersion), ("LZ4", String(cString: LZ4_versionString())),
      ("libmicrohttpd", String(cString: MHD_get_version())),
    ]
    #if os(Linux)
      if let version = curl_version_info(CURLVERSION_FIRST).pointee.version {
        all.append(("libcurl", String(cString: version)))
      }
      if let version = OpenSSL_version(OPENSSL_VERSION_STRING) {
        all.append(("OpenSSL", String(cString: version)))
      }
    #endif
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
