import Foundation

/// What `schema/` must hold so that nothing stored is without its sample or its place in the build.
enum StoredFormRules {
  /// The stored names of all event kinds, read from the enum that declares them.
  static func eventKinds(in files: [SourceFile]) -> [String] {
    files.flatMap { file -> [String] in
      guard file.code.contains(where: { $0.contains(#/\benum EventKind\b/#) }) else { return [] }
      return file.lines.compactMap {
        $0.firstMatch(of: #/^\s*case \w+ = "([a-z_]+\.[a-z_]+)"/#).map { String($0.output.1) }
      }
    }
  }

  /// Each kind has its sample, and each sample its kind.
  static func samples(kinds: [String], paths: [String]) -> [Finding] {
    let sampled = Set(paths.compactMap(kind))
    let missing = Set(kinds).subtracting(sampled).sorted().map {
      Finding(
        path: "schema/events/\($0).v1.json", line: 1,
        message: "no sample of this kind; record it with WAYBILL_RECORD=1 tools/test")
    }
    let strange = paths.filter { kind($0).map { !kinds.contains($0) } ?? false }.map {
      Finding(
        path: $0, line: 1,
        message: "no such event kind; a kind that was stored once may not be renamed")
    }
    return missing + strange
  }

  /// A sample is named `<kind>.v<version>.json` and is one JSON object.
  static func sampleForm(_ file: SourceFile) -> [Finding] {
    guard kind(file.path) != nil else {
      return [file.finding(0, "name it <kind>.v<version>.json, such as upload.queued.v1.json")]
    }
    let object = try? JSONSerialization.jsonObject(with: Data(file.text.utf8))
    return object is [String: Any] ? [] : [file.finding(0, "this is not one JSON object")]
  }

  /// Each file of SQL that the product runs is embedded by `schema.c`.
  static func embedded(_ paths: [String], by glue: String) -> [Finding] {
    paths.filter { $0.hasSuffix(".sql") && $0 != "schema/ledger.sql" }.filter {
      !glue.contains("#embed \"\($0.dropFirst("schema/".count))\"")
    }.map {
      Finding(path: $0, line: 1, message: "not embedded; add its #embed and its row to schema.c")
    }
  }

  private static func kind(_ path: String) -> String? {
    path.firstMatch(of: #/(?:^|/)([a-z_]+\.[a-z_]+)\.v[1-9][0-9]*\.json$/#)
      .map { String($0.output.1) }
  }
}
