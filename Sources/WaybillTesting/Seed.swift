/// A small random source that gives the same numbers for the same seed on every machine: SplitMix64
/// (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
public struct Seed: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes the source from its seed; print the seed when a test fails.
  public init(_ seed: UInt64) { state = seed }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to and without `bound`, which is at least 1.
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True once in `rarity` times on average.
  public mutating func once(in rarity: Int) -> Bool { below(rarity) == 0 }
}
