internal import CSchema

/// The files of `schema/` that were embedded when the package was built.
package enum Schema {
  /// The text of one file by its path below `schema/`; asking for one that is not there is a bug.
  package static func text(_ name: String) -> String {
    guard let file = files.first(where: { $0.name == name }) else {
      preconditionFailure("schema/schema.c embeds no file named \(name)")
    }
    return file.text
  }

  /// The names of all files below a folder, in the order of schema.c.
  package static func names(in folder: String) -> [String] {
    files.map(\.name).filter { $0.hasPrefix(folder + "/") }
  }

  private static let files: [(name: String, text: String)] = {
    var files: [(name: String, text: String)] = []
    while case let file = waybill_schema_file_at(files.count), let name = file.name {
      files.append((String(cString: name), String(cString: file.text)))
    }
    return files
  }()
}
