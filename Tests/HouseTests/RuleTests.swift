import Testing

/// Each rule against a text that breaks it and one that keeps it: a rule that cannot fail is none.
@Suite struct RuleTests {
  private func swift(_ text: String, at path: String = "Sources/WaybillEngine/A.swift")
    -> SourceFile
  {
    SourceFile(path: path, text: text)
  }

  private func lines(_ findings: [Finding]) -> [Int] { findings.map(\.line) }

  @Test func `a finding names file, line and remedy`() {
    let file = swift("import Foundation\n")
    #expect(
      ImportRules.foundation(file).map(\.description) == [
        "Sources/WaybillEngine/A.swift:1: no Foundation in Sources or tools; use Glibc or Darwin"
      ])
  }

  @Test func `only a whole file for Apple may see Foundation, and only for URLSession`() {
    let path = "Sources/WaybillEngine/Transport/URLSessionTransport+Delegate.swift"
    let whole = "#if canImport(Darwin)\n  public import Foundation\n#endif\n"
    func found(_ text: String, _ path: String) -> [Int] {
      let file = swift(text, at: path)
      return lines(ImportRules.foundation(file) + ImportRules.direction(file))
    }
    #expect(found(whole, path) == [])
    #expect(found("// Why.\n" + whole, path) == [])
    #expect(found(whole, "Sources/WaybillEngine/Transport/CurlTransport.swift") == [2])
    #expect(found(whole, "Sources/WaybillLedger/URLSessionTransport.swift") == [2])
    #expect(found("public import Foundation\n", path) == [1])
    #expect(found(whole + "internal import Foundation\n", path) == [2, 4])
    #expect(found("#if canImport(Darwin)\n#else\nimport Foundation\n#endif\n", path) == [3])
  }

  @Test func `comments and strings are blank, code and lines stay`() {
    let text = ##"""
      let a = "x // \(f("y") + 1) z" // end
      let b = #"a "quoted" \n"# /* one
      /* two */ */ + c
      let d = """
        func no() {
        """
      """##
    let code = swift(text).code
    #expect(code.count == 6)
    #expect(code[0].trimmingSuffix(" ") == #"let a = "       f(" ") + 1   ""#)
    #expect(code[1].trimmingSuffix(" ") == ##"let b = #"             "#"##)
    #expect(code[2].trimmingSuffix(" ") == "             + c")
    #expect(code[4].allSatisfy { $0 == " " })
  }

  @Test func `a file of 501 lines is too long`() {
    #expect(SizeRules.fileLength(swift(String(repeating: "//\n", count: 500))).isEmpty)
    #expect(lines(SizeRules.fileLength(swift(String(repeating: "//\n", count: 501)))) == [501])
  }

  @Test func `a line of 101 columns is too wide, whatever its bytes`() {
    #expect(SizeRules.columns(swift(String(repeating: "é", count: 100))).isEmpty)
    #expect(lines(SizeRules.columns(swift("\n" + String(repeating: "x", count: 101)))) == [2])
  }

  @Test(arguments: ["func long() {", "init(a: Int = { 1 }()) {", "public static func f<T>(_: T) {"])
  func `a function of 71 lines is too long`(opening: String) {
    func body(_ count: Int) -> SourceFile {
      swift("struct A {\n\(opening)\n" + String(repeating: "x()\n", count: count) + "}\n}\n")
    }
    #expect(SizeRules.functionLength(body(68)).isEmpty)
    #expect(lines(SizeRules.functionLength(body(69))) == [2])
  }

  @Test func `requirements, calls and broken signatures are measured for what they are`() {
    let text = """
      protocol P {
        func a()
        init(b: Int)
      }
      let made = A.init(c: 1)
      func d(
        e: Int
      ) -> Int
      where T: P
      {
        f("}")
      }
      func g() { h() }
      """
    #expect(
      FunctionScan.functions(in: swift(text).code) == [
        .init(first: 5, count: 7), .init(first: 12, count: 1),
      ])
  }

  @Test func `an import against the direction is found in every form`() {
    let text = """
      public import WaybillModel
      internal import WaybillEngine
      @preconcurrency import Glibc
      import struct WaybillTrace.TraceReader
      // import WaybillServer
      """
    let file = swift(text, at: "Sources/WaybillLedger/Ledger.swift")
    #expect(lines(ImportRules.direction(file)) == [2, 4])
  }

  @Test func `the pure core imports nothing, and a new module must be placed`() {
    let core = swift("import Glibc", at: "Sources/WaybillModel/Upload.swift")
    #expect(lines(ImportRules.direction(core)) == [1])
    let new = swift("", at: "Sources/WaybillExtras/A.swift")
    #expect(lines(ImportRules.direction(new)) == [1])
    let test = swift("import Glibc", at: "Tests/WaybillModelTests/A.swift")
    #expect(ImportRules.direction(test).isEmpty)
  }

  @Test(arguments: [
    "let now = Date()", "let id = UUID()", "let bits = UInt64.random(in: 0...1)",
    "var source = SystemRandomNumberGenerator()", "let now = ContinuousClock.now", "print(state)",
    "await next()",
  ])
  func `what the pure core may not do is found there, and only there`(line: String) {
    let core = swift("\n" + line, at: "Sources/WaybillModel/Upload.swift")
    #expect(lines(WordRules.purity(core)) == [2])
    #expect(WordRules.purity(swift(line)).isEmpty)
    let comment = swift("// " + line, at: "Sources/WaybillModel/Upload.swift")
    #expect(WordRules.purity(comment).isEmpty)
  }

  @Test(arguments: ["// TO" + "DO: later", "x() // FIX" + "ME", #"fatalError("no"# + #"t yet")"#])
  func `what is unfinished is found`(line: String) {
    #expect(lines(WordRules.leftovers(swift("\n" + line))) == [2])
    #expect(WordRules.leftovers(swift("let autodo = 1")).isEmpty)
  }

  @Test func `a vague name is found in files and types`() {
    #expect(WordRules.names(swift("", at: "Sources/WaybillEngine/FileUtils.swift")).count == 1)
    #expect(lines(WordRules.names(swift("\nfinal class UploadManager {"))) == [2])
    #expect(WordRules.names(swift("struct UploadEngine {}")).isEmpty)
  }

  @Test func `what needs a newer system is found`() {
    #expect(
      lines(WordRules.portability(swift("let state = Mutex(0)\nTask.detached {}"))) == [1, 2])
  }

  @Test(arguments: [
    "/wo" + "rk/main/x", "\"/ro" + "ot/key\"", "see `/ho" + "me/anna/photos`", "cd /Us" + "ers/me",
  ])
  func `a path of one machine is found`(text: String) {
    #expect(lines(WordRules.machinePaths(swift("\n" + text))) == [2])
  }

  @Test(arguments: [
    "https://example.org/wo" + "rk/1", "frame" + "work/x", "a/ro" + "ot/b", "/tmp/x",
  ])
  func `a path of no machine is let be`(text: String) {
    #expect(WordRules.machinePaths(swift(text)).isEmpty)
  }

  @Test func `each public declaration needs a doc comment`() {
    let text = """
      /// Documented.
      public struct A {
        public let b: Int
        /// Documented.
        @discardableResult
        public func c() -> Int { 1 }
        public private(set) var d = 1
        package func e() {}
        private(set) var f = 1
      }
      public import G
      """
    #expect(lines(DocumentationRules.missing(swift(text))) == [3, 7])
  }

  @Test func `cases of a public enum and requirements of a public protocol count as public`() {
    let text = """
      /// Documented.
      public enum A {
        case b
        /// Documented.
        case c
        var d: Int {
          switch self {
          case .b: 1
          case .c: 2
          }
        }
      }
      /// Documented.
      public protocol E {
        func f()
        /// Documented.
        var g: Int { get }
      }
      enum H {
        case i
      }
      public extension A {}
      """
    #expect(lines(DocumentationRules.missing(swift(text))) == [3, 15, 22])
  }

  @Test func `an event kind without a sample and a sample without a kind are found`() {
    let text = """
      enum EventKind: String {
        case queued = "upload.queued"
        case partSent = "part.sent"
      }
      """
    let kinds = StoredFormRules.eventKinds(in: [swift(text), swift(#"case x = "not.a_kind""#)])
    #expect(kinds == ["upload.queued", "part.sent"])
    let paths = ["schema/events/upload.queued.v1.json", "schema/events/upload.posted.v1.json"]
    #expect(
      StoredFormRules.samples(kinds: kinds, paths: paths).map(\.path) == [
        "schema/events/part.sent.v1.json", "schema/events/upload.posted.v1.json",
      ])
  }

  @Test func `a sample has its name and is one object`() {
    func form(_ path: String, _ text: String) -> Int {
      StoredFormRules.sampleForm(SourceFile(path: path, text: text)).count
    }
    #expect(form("schema/events/part.sent.v2.json", "{\"part\": 1}") == 0)
    #expect(form("schema/events/part.sent.v2.json", "[1]") == 1)
    #expect(form("schema/events/part.sent.json", "{}") == 1)
    #expect(form("schema/events/PartSent.v1.json", "{}") == 1)
  }

  @Test func `a file of SQL that is not embedded is found`() {
    let paths = ["schema/ledger.sql", "schema/migrations/v001_a.sql", "schema/projections/b.sql"]
    let glue = "#embed \"migrations/v001_a.sql\" suffix(, 0)"
    #expect(
      StoredFormRules.embedded(paths, by: glue).map(\.path) == ["schema/projections/b.sql"])
  }

  @Test func `a command without a row and a file that is gone are found`() {
    let readme = SourceFile(
      path: "README.md",
      text: """
        Run `tools/test` or [read](schema/README.md), not `tools/tested`; `show` is in no row.
        | `push FILE…` · `add FILE…` | sends |
        """)
    let files = ["Push", "Add", "Show"].map { "tools/waybill/Commands/\($0)Command.swift" }
    let missing = ReadmeRules.commands(readme, files: files + ["tools/waybill/Commands/Bars.swift"])
    #expect(
      missing.map(\.message) == ["the table of commands has no row for `show`; say what it does"])
    let here = ["tools/test", "schema/README.md"]
    #expect(lines(ReadmeRules.links(readme, exists: here.contains)) == [1])
  }

  @Test func `an example that differs from the compiled file is found`() {
    func findings(_ example: String) -> [Int] {
      let readme = SourceFile(path: "README.md", text: "Text\n```swift\n\(example)\n```\n")
      let source = SourceFile(path: "Tests/HouseTests/ReadmeExample.swift", text: "a()\nb()\n")
      return lines(ReadmeRules.example(readme, source: source))
    }
    #expect(findings("a()\nb()") == [])
    #expect(findings("a()\nc()") == [4])
    #expect(findings("a()") == [2])
    let bare = SourceFile(path: "README.md", text: "No example\n")
    #expect(lines(ReadmeRules.example(bare, source: bare)) == [1])
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var copy = self
    while copy.last == character { copy.removeLast() }
    return copy
  }
}
