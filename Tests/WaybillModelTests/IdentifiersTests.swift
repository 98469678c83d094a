import Testing
import WaybillModel
import WaybillTesting

struct IdentifiersTests {
  @Test func `an identifier reads back from its text in either case`() throws {
    var seed = Seed(36)
    for _ in 0..<1000 {
      let id = UploadID(high: seed.next(), low: seed.next())
      #expect(UploadID(id.description) == id)
      #expect(UploadID(id.description.uppercased()) == id)
      #expect(EventID(id.description) == EventID(high: id.high, low: id.low))
    }
    #expect(
      UploadID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210).description
        == "01234567-89ab-cdef-fedc-ba9876543210")
  }

  @Test(arguments: [
    "", "01234567-89ab-cdef-fedc-ba987654321", "01234567-89ab-cdef-fedc-ba98765432100",
    "0123456789abcdeffedcba9876543210", "01234567-89ab-cdef-fedc-ba987654321g",
    "01234567_89ab-cdef-fedc-ba9876543210", "{01234567-89ab-cdef-fedc-ba9876543210}",
    "01234567-89ab-cdef-fedc-ba98765432１0", " 1234567-89ab-cdef-fedc-ba9876543210",
    "0123456-789ab-cdef-fedc-ba9876543210", "------------------------------------",
  ])
  func `other text is no identifier`(text: String) {
    #expect(UploadID(text) == nil)
    #expect(EventID(text) == nil)
  }

  @Test func `version 7 identifiers carry version and variant and sort by time`() {
    var seed = Seed(7)
    var last: UploadID?
    for step in 0..<5000 {
      let time = Timestamp(microseconds: Samples.time.microseconds + Int64(step))
      let halves = UUIDv7.halves(time: time, random: seed.next())
      #expect(halves.high >> 12 & 0xf == 7)
      #expect(halves.low >> 62 == 0b10)
      #expect(halves.high >> 16 == UInt64(time.microseconds / 1000))
      let id = UploadID(high: halves.high, low: halves.low)
      if let last { #expect(last < id) }
      last = id
    }
  }

  @Test(arguments: [Int64.min, -1, 0, .max])
  func `version 7 identifiers are made at any time`(microseconds: Int64) {
    let halves = UUIDv7.halves(time: Timestamp(microseconds: microseconds), random: .max)
    #expect(halves.high >> 12 & 0xf == 7)
    #expect(halves.low >> 62 == 0b10)
  }

  @Test func `a staged file has a plain name`() {
    for text in ["a", "0-9", Samples.upload.description, String(repeating: "z", count: 64)] {
      #expect(StagedFileID(text)?.text == text)
    }
    for text in ["", ".", "..", "a/b", "A", "a.b", "ä", "a\0", String(repeating: "z", count: 65)] {
      #expect(StagedFileID(text) == nil)
    }
    #expect(StagedFileID(StagedFileID(Samples.upload).text) == StagedFileID(Samples.upload))
  }

  @Test func `a transfer reads back from its description`() {
    let transfer = TransferDescription(
      upload: Samples.upload, part: PartNumber(9999), attempt: 12, launch: LaunchGeneration(.max))
    #expect(TransferDescription(transfer.description) == transfer)
  }

  @Test(arguments: [
    "", "/", "///", "x/0/1/1", "\(Samples.upload)/0/1", "\(Samples.upload)/0/1/1/",
    "\(Samples.upload)/-1/1/1", "\(Samples.upload)/0/0/1", "\(Samples.upload)/0/1/0",
    "\(Samples.upload)/0/1/9223372036854775808", "\(Samples.upload)/0x1/1/1",
    "\(Samples.upload)/ 0/1/1",
  ])
  func `other text describes no transfer`(text: String) {
    #expect(TransferDescription(text) == nil)
  }
}

struct ContentHashTests {
  @Test func `a hash reads back from bytes and from digits in either case`() {
    var seed = Seed(256)
    for _ in 0..<500 {
      let bytes = (0..<32).map { _ in UInt8(truncatingIfNeeded: seed.next()) }
      let hash = ContentHash(bytes)
      #expect(hash?.bytes == bytes)
      #expect(hash?.withBytes { [UInt8]($0) } == bytes)
      let text = hash?.description ?? ""
      #expect(text.utf8.count == 64)
      #expect(ContentHash(hex: text) == hash)
      #expect(ContentHash(hex: text.uppercased()) == hash)
    }
    #expect(ContentHash.zero.description == String(repeating: "0", count: 64))
  }

  @Test func `hashes differ when any byte does`() {
    let bytes = [UInt8](repeating: 0, count: 32)
    for index in 0..<32 {
      var other = bytes
      other[index] = 1
      #expect(ContentHash(other) != ContentHash(bytes))
    }
  }

  @Test(arguments: [0, 31, 33, 64])
  func `a hash has 32 bytes`(count: Int) {
    #expect(ContentHash([UInt8](repeating: 1, count: count)) == nil)
  }

  @Test(arguments: [
    "", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
    String(repeating: "g", count: 64), String(repeating: "é", count: 32),
  ])
  func `other text is no hash`(text: String) {
    #expect(ContentHash(hex: text) == nil)
  }
}
