import Testing

/// The house as it stands. What each rule would say is proved in `RuleTests`.
@Suite struct HouseTests {
  let repository = Repository.here

  private func expectNone(
    _ findings: [Finding], _ location: SourceLocation = #_sourceLocation
  ) {
    for finding in findings {
      Issue.record("\(finding)", sourceLocation: location)
    }
  }

  /// Code of any language. Tables in documents may be wide.
  private func code() throws -> [SourceFile] {
    let places = ["Package.swift", "Sources", "Tests", "schema", "tools", ".ci"]
    return try repository.texts(below: places).filter { file in
      let endings = [".swift", ".c", ".h", ".sql", ".py"]
      return endings.contains { file.name.hasSuffix($0) } || file.text.hasPrefix("#!")
    }
  }

  private func product() throws -> [SourceFile] {
    try repository.swift(below: ["Sources", "tools"])
  }

  @Test func `files, functions and lines are short`() throws {
    for file in try code() {
      expectNone(SizeRules.fileLength(file) + SizeRules.columns(file))
    }
    for file in try repository.swift(below: ["Sources", "tools", "Tests"]) {
      expectNone(SizeRules.functionLength(file))
    }
  }

  @Test func `modules import in one direction, and none imports Foundation`() throws {
    let files = try product()
    #expect(!files.isEmpty)
    for file in files {
      expectNone(ImportRules.direction(file) + ImportRules.foundation(file))
    }
  }

  @Test func `the pure core has no clock, no randomness, no input and no output`() throws {
    let files = try product()
    #expect(files.contains { $0.module == "WaybillModel" })
    for file in files { expectNone(WordRules.purity(file)) }
  }

  @Test func `nothing is unfinished, vague or bound to a newer system`() throws {
    for file in try product() {
      expectNone(WordRules.names(file) + WordRules.portability(file))
    }
    for file in try repository.texts(below: ["Sources", "tools", "schema", "Tests", "README.md"]) {
      expectNone(WordRules.leftovers(file))
    }
  }

  @Test func `no text names a path of one machine`() throws {
    let places = [
      "Package.swift", "README.md", "Sources", "tools", "schema", ".ci", ".github", ".gitignore",
    ]
    for file in try repository.texts(below: places) { expectNone(WordRules.machinePaths(file)) }
  }

  @Test func `everything public is documented`() throws {
    for file in try product() { expectNone(DocumentationRules.missing(file)) }
  }

  @Test func `each event kind has its sample`() throws {
    let kinds = StoredFormRules.eventKinds(in: try product())
    let samples = try repository.texts(below: ["schema/events"]).filter { $0.name != ".keep" }
    for sample in samples { expectNone(StoredFormRules.sampleForm(sample)) }
    expectNone(StoredFormRules.samples(kinds: kinds, paths: samples.map(\.path)))
  }

  @Test func `each file of SQL is embedded`() throws {
    let glue = try repository.text("schema/schema.c")
    expectNone(StoredFormRules.embedded(repository.paths("schema"), by: glue))
  }

  @Test func `the README names every command and only files that exist`() throws {
    let commands = repository.paths("tools/waybill/Commands")
    for path in ["README.md", ".github/CONTRIBUTING.md"] {
      let page = SourceFile(path: path, text: try repository.text(path))
      if path == "README.md" { expectNone(ReadmeRules.commands(page, files: commands)) }
      expectNone(ReadmeRules.links(page, exists: repository.exists))
    }
  }

  @Test(
    arguments: [
      ("README.md", "Tests/HouseTests/ReadmeExample.swift"),
      (
        "Sources/WaybillEngine/WaybillEngine.docc/BindAScreen.md",
        "Tests/HouseTests/ScreenExample.swift"
      ),
    ])
  func `the example of a page is the file that is compiled`(page: String, source: String) throws {
    let page = SourceFile(path: page, text: try repository.text(page))
    let source = SourceFile(path: source, text: try repository.text(source))
    expectNone(ReadmeRules.example(page, source: source))
  }
}
