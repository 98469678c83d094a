import Testing
import WaybillModel
import WaybillTesting

struct PartPlanTests {
  // Case D05.
  @Test(
    arguments: [
      (0, 8_388_608, 0, 0), (1, 65_536, 1, 1), (65_536, 65_536, 1, 65_536), (65_537, 65_536, 2, 1),
      (2_147_483_648, 8_388_608, 256, 8_388_608), (4_294_967_296, 8_388_608, 512, 8_388_608),
      (4_294_967_297, 8_388_608, 513, 1), (655_360_000, 65_536, 10_000, 65_536),
      (655_359_999, 65_536, 10_000, 65_535), (671_088_640_000, 67_108_864, 10_000, 67_108_864),
    ] as [(Int64, Int64, Int, Int64)])
  func `a file is cut into equal parts and a rest`(
    byteCount: Int64, partSize: Int64, partCount: Int, last: Int64
  ) throws {
    let plan = try #require(PartPlan(byteCount: byteCount, partSize: partSize))
    #expect(plan.partCount == partCount)
    #expect(plan.byteCount(of: PartNumber(partCount - 1)) == last)
    let total = (0..<partCount).reduce(0) { $0 + plan.byteCount(of: PartNumber($1)) }
    #expect(total == byteCount)
    for index in 0..<min(partCount, 3) {
      #expect(plan.offset(of: PartNumber(index)) == Int64(index) * partSize)
    }
  }

  @Test(
    arguments: [
      (-1, 8_388_608), (.min, 65_536), (655_360_001, 65_536), (.max, 67_108_864), (1, 65_535),
      (1, 67_108_865), (1, 0), (1, -1), (1, .min), (1, .max), (0, 0),
    ] as [(Int64, Int64)])
  func `what cannot be met within bounds has no plan`(byteCount: Int64, partSize: Int64) {
    #expect(PartPlan(byteCount: byteCount, partSize: partSize) == nil)
  }

  @Test(arguments: [-1, 3, 9_999, Int.min, .max])
  func `a part that is not in the plan has no bytes`(index: Int) throws {
    let plan = try #require(PartPlan(byteCount: 20_000_000, partSize: Samples.partSize))
    #expect(plan.byteCount(of: PartNumber(index)) == 0)
  }
}

struct PartSetTests {
  @Test(
    arguments: [
      ([], ""), ([0], "0"), ([0, 1, 2], "0-2"), ([2, 0, 1, 1], "0-2"), ([14, 0, 1], "0-1,14"),
      ([9_999, 9_997, 0, 2], "0,2,9997,9999"),
    ] as [([Int], String)])
  func `a set has one text form`(numbers: [Int], text: String) {
    let set = PartSet(numbers)
    #expect(set.text == text)
    #expect(PartSet(text: text) == set)
    #expect(set.count == Set(numbers).count)
    #expect(set.isEmpty == numbers.isEmpty)
  }

  @Test(arguments: [
    ",", "0,", ",0", "0,,1", "-", "-1", "1-", "2-1", "0-1-2", "0,1", "0-2,3", "3,0", "0,0", "a",
    "10000", "0-10000", "99999999999999999999", " 0", "0 ", "٣",
  ])
  func `other text is no set`(text: String) {
    #expect(PartSet(text: text) == nil)
  }

  @Test func `a set agrees with a plain set of numbers`() {
    var seed = Seed(10_000)
    for _ in 0..<500 {
      let numbers = (0..<seed.below(40)).map { _ in seed.below(60) }
      let set = PartSet(numbers)
      let plain = Set(numbers)
      #expect(set.count == plain.count)
      #expect((0..<62).allSatisfy { set.contains(PartNumber($0)) == plain.contains($0) })
      #expect(PartSet(text: set.text) == set)
      #expect(set.coversAll(60) == (plain.count == 60))
    }
  }

  @Test func `a full set is one run`() {
    #expect(PartSet(all: 10_000).text == "0-9999")
    #expect(PartSet(all: 10_000) == PartSet(Array(0..<10_000).shuffled()))
    #expect(PartSet(all: 0) == PartSet() && PartSet(all: -1) == PartSet())
    #expect(PartSet().coversAll(0) && PartSet(all: 3).coversAll(3) && !PartSet(all: 3).coversAll(4))
  }

  // Case B11: numbers come from replies.
  @Test(arguments: [
    [Int.max, Int.max], [Int.max - 1, Int.max, Int.max], [Int.min, Int.min], [Int.min, Int.max],
  ])
  func `absurd numbers make a set without a trap`(numbers: [Int]) {
    let set = PartSet(numbers)
    #expect(set.count <= numbers.count)
    #expect(!set.contains(PartNumber(0)))
  }

  @Test(arguments: [[-1], [-1, 0, 1], [10_000], [9_999, 10_000], [Int.max]])
  func `a set reads back from its text whatever numbers it was made from`(numbers: [Int]) {
    let set = PartSet(numbers)
    #expect(PartSet(text: set.text) == set)
  }
}

struct RetryPolicyTests {
  private func pause(_ setbacks: Int, asked: Int64? = nil, random: UInt64 = .max) -> Int64 {
    RetryPolicy.notBefore(setbacks: setbacks, asked: asked, now: Samples.time, random: random)
      .milliseconds(since: Samples.time)
  }

  @Test func `a pause is never zero and never beyond the ceiling`() {
    var seed = Seed(503)
    for setbacks in [Int.min, -1, 0, 1, 5, 9, 10, 20, 21, 62, 63, 64, 1000, .max] {
      for _ in 0..<200 {
        let pause = pause(setbacks, random: seed.next())
        #expect(pause >= RetryPolicy.floorMilliseconds, "after \(setbacks)")
        #expect(pause <= RetryPolicy.ceilingMilliseconds, "after \(setbacks)")
      }
    }
  }

  @Test func `the longest pause doubles until the ceiling`() {
    let longest = (0..<12).map { setbacks in
      (0..<4000).map { pause(setbacks, random: UInt64($0) &* 0x9e37_79b9_7f4a_7c15) }.max() ?? 0
    }
    for (setbacks, pause) in longest.enumerated() {
      let span = min(
        RetryPolicy.baseMilliseconds << Int64(setbacks), RetryPolicy.ceilingMilliseconds)
      #expect(pause <= span && pause > span * 9 / 10, "after \(setbacks)")
    }
  }

  @Test(
    arguments: [
      (0, 1000), (-5, 1000), (.min, 1000), (999, 1000), (1000, 1000), (30_000, 30_000),
      (3_600_000, 3_600_000), (3_600_001, 3_600_000), (.max, 3_600_000),
    ] as [(Int64, Int64)])
  func `what the server asks for is kept within bounds`(asked: Int64, given: Int64) {
    #expect(pause(0, asked: asked) == given)
    #expect(pause(50, asked: asked, random: 0) == given)
  }

  @Test func `a pause at the end of time does not trap`() {
    let end = Timestamp(microseconds: .max)
    #expect(RetryPolicy.notBefore(setbacks: 3, asked: nil, now: end, random: 1) == end)
    #expect(RetryPolicy.notBefore(setbacks: 3, asked: .max, now: end, random: 1) == end)
  }
}
