/// Why a figure could not be taken; a run with one has failed.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
