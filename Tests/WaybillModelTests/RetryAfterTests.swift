import Testing

@testable import WaybillModel

/// 1994-11-06T08:49:37Z, the moment RFC 9110 uses in its examples.
private let exampleMoment = Timestamp(seconds: 784_111_777)

private func reply(_ headers: [(String, String)]) -> HTTPReply {
  HTTPReply(status: 429, headers: headers.map { HTTPHeader($0.0, $0.1) })
}

@Suite struct RetryAfterTests {
  // C01
  @Test(
    arguments: [
      ("120", 120_000), ("0", 0), ("007", 7000), ("99999999999", 99_999_999_999_000),
      ("Sun, 06 Nov 1994 08:50:37 GMT", 60_000),
      ("Sunday, 06-Nov-94 08:50:37 GMT", 60_000),
      ("Sun Nov  6 08:50:37 1994", 60_000),
      ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
      ("Wed, 01 Jan 1902 00:00:00 GMT", 0),
    ] as [(String, Int64)])
  func `both forms give the pause in milliseconds`(text: String, pause: Int64) {
    let asked = RetryAfter.milliseconds(of: reply([("retry-after", text)]), now: exampleMoment)
    #expect(asked == pause)
  }

  // C01
  @Test(arguments: [
    "", "-1", "+1", "1.5", "abc", "1e3", "0x10", "12 s", "١٢", "Sun, 06 Nov 1994",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
    "sun, 06 nov 1994 08:49:37 gmt", "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
    "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun Nov 6 08:49:37 1994", "Sun, 00 Nov 1994 08:49:37 GMT", "Sunday, 31-Jun-94 08:49:37 GMT",
  ])
  func `junk asks for nothing`(text: String) {
    #expect(RetryAfter.milliseconds(of: reply([("Retry-After", text)]), now: exampleMoment) == nil)
  }

  @Test func `a reply without the header asks for nothing`() {
    #expect(RetryAfter.milliseconds(of: reply([]), now: exampleMoment) == nil)
  }

  // C01
  @Test(arguments: ["99999999999", "9223372036854776", "99999999999999999999999999"])
  func `a pause too long to count is cut by the ceiling`(text: String) throws {
    let asked = try #require(
      RetryAfter.milliseconds(of: reply([("Retry-After", text)]), now: exampleMoment))
    let next = RetryPolicy.notBefore(setbacks: 0, asked: asked, now: exampleMoment, random: 0)
    #expect(next.milliseconds(since: exampleMoment) == RetryPolicy.serverCeilingMilliseconds)
  }

  // C01, C08: the device is a day ahead; the server's own Date goes before the local clock.
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `a date is measured against the Date of the reply`(date: String) {
    let now = exampleMoment.adding(milliseconds: 86_400_000)
    let asked = RetryAfter.milliseconds(
      of: reply([("Date", date), ("Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT")]), now: now)
    #expect(asked == 120_000)
  }

  @Test func `a Date that cannot be read leaves the local clock`() {
    let asked = RetryAfter.milliseconds(
      of: reply([("Date", "soon"), ("Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT")]),
      now: exampleMoment)
    #expect(asked == 120_000)
  }

  @Test(
    arguments: [
      ("Sunday, 06-Nov-94 08:49:37 GMT", 2026, 1994),
      ("Friday, 06-Nov-76 08:49:37 GMT", 2026, 2076),
      ("Sunday, 06-Nov-77 08:49:37 GMT", 2026, 1977),
      ("Tuesday, 06-Nov-01 08:49:37 GMT", 1999, 2001),
      ("Saturday, 06-Nov-99 08:49:37 GMT", 2001, 1999),
      ("Tuesday, 29-Feb-00 08:49:37 GMT", 2060, 2000),
      ("Friday, 06-Nov-26 08:49:37 GMT", 2080, 2126),
    ] as [(String, Int64, Int64)])
  func `two digits name the latest year at most 50 ahead`(text: String, now: Int64, year: Int64) {
    let local = CalendarTime(year: now, month: 12, day: 1, hour: 0, minute: 0, second: 0)
    let moment = HTTPDate.read(text, now: Timestamp(seconds: local.secondsSinceEpoch))
    #expect(moment.map { CalendarTime(secondsSinceEpoch: $0.seconds).year } == year)
  }

  // C08
  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Mon, 07 Nov 1994 08:49:37 GMT", 86_400_000),
      ("Sat, 05 Nov 1994 08:49:37 GMT", -86_400_000), ("yesterday", nil),
    ] as [(String, Int64?)])
  func `the skew of the clocks is measured`(date: String, skew: Int64?) {
    let measured = ServerClock.skewMilliseconds(of: reply([("Date", date)]), now: exampleMoment)
    #expect(measured == skew)
  }

  @Test(arguments: [
    ("2026-11-30T01:29:38Z", "2026-11-30T01:29:38.000000Z"),
    ("2026-11-30t01:29:38z", "2026-11-30T01:29:38.000000Z"),
    ("2026-11-30T01:29:38.25+01:30", "2026-11-29T23:59:38.250000Z"),
    ("2026-11-30T23:29:38.1234567-01:00", "2026-12-01T00:29:38.123456Z"),
    ("2024-02-29T00:00:00-00:00", "2024-02-29T00:00:00.000000Z"),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
    ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"),
  ])
  func `RFC 3339 is read to the microsecond`(text: String, utc: String) {
    #expect(Timestamp(rfc3339: text)?.description == utc)
  }

  @Test(arguments: [
    "", "2026-11-30", "2026-11-30 01:29:38Z", "2026-11-30T01:29:38", "2026-11-30T01:29:38.Z",
    "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:61Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100", "tomorrow",
    "2026-1-01T00:00:00Z", "+026-01-01T00:00:00Z", "2026-01-01T00:00:00Z ",
  ])
  func `anything else is no moment`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }
}
