/// Reads words against a table of options: `-v`, `-vn5`, `-n 5`, `--key=value`, `--key value`,
/// and `--`, behind which every word is an operand. A lone `-` is an operand.
struct ArgumentParser {
  /// The command the words belong to; nil before its name is known.
  let command: String?
  /// The table.
  let options: [Option]
  /// Whether reading ends at the first operand, which is the name of a command.
  var stopsAtOperand = false

  /// Reads `words`.
  ///
  /// - Returns: what they said, and the words from the first operand on if reading ends there.
  func parse(_ words: ArraySlice<RawArgument>) throws(Failure) -> (Arguments, rest: Words) {
    var arguments = Arguments(options: options)
    var rest = words
    while let word = rest.first {
      if word.bytes == [dash, dash] {
        let operands = rest.dropFirst()
        if stopsAtOperand { return (arguments, operands) }
        arguments.operands += operands
        return (arguments, [])
      }
      if word.bytes.starts(with: [dash, dash]) {
        rest = rest.dropFirst()
        try readLong(word, &rest, into: &arguments)
      } else if word.bytes.first == dash, word.bytes.count > 1 {
        rest = rest.dropFirst()
        try readCluster(word, &rest, into: &arguments)
      } else if stopsAtOperand {
        return (arguments, rest)
      } else {
        rest = rest.dropFirst()
        arguments.operands.append(word)
      }
    }
    return (arguments, [])
  }

  typealias Words = ArraySlice<RawArgument>

  private var dash: UInt8 { UInt8(ascii: "-") }

  private func readLong(
    _ word: RawArgument, _ rest: inout Words, into arguments: inout Arguments
  ) throws(Failure) {
    let body = word.bytes.dropFirst(2)
    let split = body.firstIndex(of: UInt8(ascii: "="))
    let name = RawArgument(bytes: [UInt8](body[..<(split ?? body.endIndex)]))
    guard let option = options.first(where: { [UInt8]($0.name.utf8) == name.bytes }) else {
      throw unknown("--\(name.display)", closeTo: name)
    }
    if case .none = option.value {
      guard split == nil else { throw usage("--\(option.name) takes no value") }
      arguments.add(.present, for: option)
      return
    }
    if let split {
      let value = RawArgument(bytes: [UInt8](body[(split + 1)...]))
      arguments.add(try read(value, option), for: option)
    } else {
      arguments.add(try read(try next(&rest, "--\(option.name)", option), option), for: option)
    }
  }

  private func readCluster(
    _ word: RawArgument, _ rest: inout Words, into arguments: inout Arguments
  ) throws(Failure) {
    var letters = word.bytes.dropFirst()
    while let byte = letters.popFirst() {
      let letter = Character(Unicode.Scalar(byte))
      guard let option = options.first(where: { $0.short == letter }) else {
        throw unknown("-\(RawArgument(bytes: [byte]).display)", closeTo: nil)
      }
      if case .none = option.value {
        arguments.add(.present, for: option)
        continue
      }
      let value =
        letters.isEmpty
        ? try next(&rest, "-\(letter)", option) : RawArgument(bytes: [UInt8](letters))
      arguments.add(try read(value, option), for: option)
      return
    }
  }

  private func next(
    _ rest: inout Words, _ spelling: String, _ option: Option
  ) throws(Failure) -> RawArgument {
    guard let word = rest.popFirst() else {
      throw usage("\(spelling) needs a value: \(option.placeholder ?? "")")
    }
    return word
  }

  private func read(
    _ value: RawArgument, _ option: Option
  ) throws(Failure) -> Arguments.Setting {
    do throws(ValueProblem) {
      return try option.value.read(value)
    } catch {
      throw usage("--\(option.name) \(value.display): \(error.sentence)")
    }
  }

  private func unknown(_ spelling: String, closeTo name: RawArgument?) -> Failure {
    let owner = command ?? "waybill"
    let nearest = name?.text.flatMap { Suggestion.nearest(to: $0, among: options.map(\.name)) }
    let hint = nearest.map { "; did you mean --\($0)?" } ?? ""
    return usage("\(owner) has no option \(spelling)\(hint)")
  }

  private func usage(_ what: String) -> Failure { Failure.usage(what, command: command) }
}
