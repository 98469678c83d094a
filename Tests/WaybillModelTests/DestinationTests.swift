import Testing

@testable import WaybillModel

@Suite struct DestinationTests {
  @Test(arguments: [
    ("https://photos.example.org", "https://photos.example.org"),
    ("HTTPS://Photos.Example.ORG/", "https://photos.example.org"),
    ("https://photos.example.org:8443/base/", "https://photos.example.org:8443/base"),
    ("https://photos.example.org/Base%20Dir//", "https://photos.example.org/Base%20Dir"),
    ("https://[2001:db8::1]:443/a", "https://[2001:db8::1]:443/a"),
    ("http://localhost:8080", "http://localhost:8080"),
    ("http://app.localhost", "http://app.localhost"),
    ("http://127.0.0.1:0080/", "http://127.0.0.1:80"),
    ("http://127.200.3.4", "http://127.200.3.4"),
    ("http://[::1]:9000", "http://[::1]:9000"),
    ("tus+https://Files.Example.org/files", "tus+https://files.example.org/files"),
    ("TUS+https://files.example.org/files//", "tus+https://files.example.org/files/"),
    ("tus+http://127.0.0.1:1080", "tus+http://127.0.0.1:1080"),
  ])
  func `a base URL is taken in one spelling`(text: String, spelled: String) throws {
    let destination = try Destination(text)
    #expect(destination.text == spelled)
    #expect(try Destination(destination.text) == destination)
  }

  @Test(
    arguments: [
      ("", .empty), ("https://h/" + String(repeating: "a", count: 2048), .tooLong),
      ("https://h/a b", .unusableCharacter), ("https://h/\r\nX: 1", .unusableCharacter),
      ("https://bücher.example", .unusableCharacter), ("https://h/%2", .unusableCharacter),
      ("https://h/%zz", .unusableCharacter), ("https://h/a/../b", .unusableCharacter),
      ("https://h/./b", .unusableCharacter), ("https://h/a\\b", .unusableCharacter),
      ("tus+tus+https://h", .unknownScheme), ("tus+ftp://h", .unknownScheme),
      ("tus+http://files.example.org", .plainHTTP), ("s3+https://h", .unknownScheme),
      ("photos.example.org", .unknownScheme), ("ftp://h", .unknownScheme),
      ("file:///etc/passwd", .unknownScheme), ("https:/h", .unknownScheme),
      ("https://", .hostMissing), ("https:///path", .hostMissing), ("https://:443", .hostMissing),
      ("https://[::1", .unusableHost), ("https://[localhost]", .unusableHost),
      ("https://a%20b", .unusableHost), ("https://[]", .unusableHost),
      ("https://h:", .unusablePort), ("https://h:0", .unusablePort),
      ("https://h:65536", .unusablePort), ("https://h:+80", .unusablePort),
      ("https://h:80:80", .unusablePort), ("https://[::1]80", .unusablePort),
      ("https://ada:secret@h", .hasUserInfo), ("https://@h", .hasUserInfo),
      ("https://h?x=1", .hasQuery), ("https://h/a?", .hasQuery),
      ("https://h#top", .hasFragment), ("https://h/a?b#c", .hasFragment),
      ("http://photos.example.org", .plainHTTP), ("http://127.0.0.1.example.org", .plainHTTP),
      ("http://localhost.example.org", .plainHTTP), ("http://10.0.0.1", .plainHTTP),
      ("http://127.1", .plainHTTP), ("http://128.0.0.1", .plainHTTP),
      ("http://[::ffff:127.0.0.1]", .plainHTTP),
    ] as [(String, DestinationProblem)])
  func `anything else is refused with its problem`(text: String, problem: DestinationProblem) {
    #expect(throws: problem) { try Destination(text) }
  }

  @Test func `the prefix names the protocol and is no part of the URL`() throws {
    let tus = try Destination("tus+https://files.example.org/files/")
    #expect(tus.adapter == .tus && tus.url == "https://files.example.org/files/")
    let parts = try Destination("https://files.example.org/files/")
    #expect(parts.adapter == .parts && parts.url == "https://files.example.org/files")
    #expect(AdapterKind.allCases.map(\.isSequential) == [false, true])
  }

  @Test func `plain http is taken where a person allows it`() throws {
    let destination = try Destination("http://nas.local/photos", allowsPlainHTTP: true)
    #expect(destination.text == "http://nas.local/photos")
  }

  @Test(arguments: DestinationProblem.allCases)
  func `every problem says what is wrong and what to do`(problem: DestinationProblem) {
    #expect(problem.message == "\(problem.what); \(problem.remedy)")
    #expect(!problem.what.isEmpty && !problem.remedy.isEmpty)
  }

  @Test(
    arguments: [
      ([], ""), ([0x66], "Zg=="), ([0x66, 0x6f], "Zm8="), ([0x66, 0x6f, 0x6f], "Zm9v"),
      ([0x66, 0x6f, 0x6f, 0x62], "Zm9vYg=="), ([0xff, 0xff, 0xfe], "///+"), ([0], "AA=="),
    ] as [([UInt8], String)])
  func `base64 has the vectors of RFC 4648`(bytes: [UInt8], text: String) {
    #expect(Base64.encode(bytes) == text)
  }
}
