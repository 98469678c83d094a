import Testing
import WaybillTesting

@testable import WaybillModel

struct TimestampTests {
  @Test(
    arguments: [
      (-1, "1969-12-31T23:59:59.999999Z"), (0, "1970-01-01T00:00:00.000000Z"),
      (1, "1970-01-01T00:00:00.000001Z"), (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
      (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
      (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
      (-2_203_891_200_000_000, "1900-03-01T00:00:00.000000Z"),
      (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
      (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
      (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
    ] as [(Int64, String)])
  func `a moment is written as RFC 3339`(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
  }

  @Test(arguments: [Int64.min, .min + 1, .min + 999_999, .max, .max - 1])
  func `the ends of time are written without a trap`(microseconds: Int64) {
    let time = Timestamp(microseconds: microseconds)
    #expect(time.description.hasSuffix("Z"))
    #expect((time.seconds < 0) == (microseconds < 0))
  }

  @Test(
    arguments: [
      (-1, -1), (-999_999, -1), (-1_000_000, -1), (-1_000_001, -2), (0, 0), (999_999, 0),
      (1_000_000, 1),
    ] as [(Int64, Int64)])
  func `whole seconds are rounded down`(microseconds: Int64, seconds: Int64) {
    #expect(Timestamp(microseconds: microseconds).seconds == seconds)
  }

  @Test func `time is added within what can be stored`() {
    let now = Samples.time
    #expect(now.adding(milliseconds: 1).microseconds == now.microseconds + 1000)
    #expect(now.adding(milliseconds: -1).microseconds == now.microseconds - 1000)
    #expect(now.adding(milliseconds: .max).microseconds == .max)
    #expect(now.adding(milliseconds: .min).microseconds == .min)
    let first = Timestamp(microseconds: .min)
    #expect(first.adding(milliseconds: -1).microseconds == .min)
    #expect(Timestamp(microseconds: .max).adding(milliseconds: 1).microseconds == .max)
    #expect(first.milliseconds(since: Timestamp(microseconds: .max)) < 0)
    #expect(Timestamp(microseconds: .max).milliseconds(since: first) > 0)
    #expect(Timestamp(seconds: .max).microseconds > 0)
    #expect(Timestamp(seconds: .min).microseconds < 0)
  }

  @Test func `a date and its seconds turn into each other`() {
    var seed = Seed(1970)
    for _ in 0..<20_000 {
      let seconds = Int64(seed.below(315_537_897_600)) - 62_135_596_800
      let date = CalendarTime(secondsSinceEpoch: seconds)
      #expect(date.secondsSinceEpoch == seconds)
      #expect((1...12).contains(date.month) && (1...31).contains(date.day))
      #expect((0...9999).contains(date.year) && (0..<60).contains(date.second))
    }
  }

  @Test func `each day follows the one before`() {
    let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var date = CalendarTime(secondsSinceEpoch: 0)
    for day in 1..<Int64(150_000) {
      let leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
      let length = date.month == 2 && leap ? 29 : lengths[Int(date.month) - 1]
      date.day += 1
      if date.day > length { (date.day, date.month) = (1, date.month + 1) }
      if date.month > 12 { (date.month, date.year) = (1, date.year + 1) }
      guard CalendarTime(secondsSinceEpoch: day * 86_400) == date else {
        Issue.record("day \(day) is not \(date.dateText)")
        return
      }
    }
  }
}
