/// Blanks comments and the contents of strings in Swift text and keeps every line break.
struct CodeMask {
  private let text: [UInt8]
  private var index = 0
  private var result: [UInt8] = []

  private enum Byte {
    static let newline = UInt8(ascii: "\n")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let pound = UInt8(ascii: "#")
    static let open = UInt8(ascii: "(")
    static let close = UInt8(ascii: ")")
  }

  static func blank(_ text: String) -> String {
    var mask = CodeMask(text: Array(text.utf8))
    mask.result.reserveCapacity(mask.text.count)
    mask.code(untilParenthesis: false)
    return String(decoding: mask.result, as: UTF8.self)
  }

  private init(text: [UInt8]) {
    self.text = text
  }

  /// Code up to the end, or up to the parenthesis that closes an interpolation.
  private mutating func code(untilParenthesis: Bool) {
    var depth = 0
    while index < text.count {
      if sees("//") {
        lineComment()
      } else if sees("/*") {
        blockComment()
      } else if let pounds = stringOpening() {
        string(pounds: pounds)
      } else {
        if text[index] == Byte.open { depth += 1 }
        if text[index] == Byte.close {
          if untilParenthesis, depth == 0 { return }
          depth -= 1
        }
        keep()
      }
    }
  }

  private mutating func lineComment() {
    while index < text.count, text[index] != Byte.newline { hide() }
  }

  private mutating func blockComment() {
    var depth = 0
    repeat {
      if sees("/*") {
        depth += 1
        hide(2)
      } else if sees("*/") {
        depth -= 1
        hide(2)
      } else {
        hide()
      }
    } while depth > 0 && index < text.count
  }

  /// How many number signs stand before a quote here; nil if this opens no string.
  private func stringOpening() -> Int? {
    var end = index
    while end < text.count, text[end] == Byte.pound { end += 1 }
    return end < text.count && text[end] == Byte.quote ? end - index : nil
  }

  private mutating func string(pounds: Int) {
    let fence = String(repeating: "#", count: pounds)
    keep(pounds)
    let quotes = sees("\"\"\"") ? "\"\"\"" : "\""
    keep(quotes.count)
    while index < text.count {
      if sees(quotes + fence) {
        keep(quotes.count + pounds)
        return
      } else if quotes.count == 1, text[index] == Byte.newline {
        return  // Not Swift; the compiler will say so.
      } else if sees("\\" + fence + "(") {
        hide(2 + pounds)
        code(untilParenthesis: true)
        hide()
      } else if sees("\\" + fence) {
        hide(2 + pounds)
      } else {
        hide()
      }
    }
  }

  private func sees(_ word: String) -> Bool {
    let word = word.utf8
    guard index + word.count <= text.count, text[index] == word.first else { return false }
    return text[index..<(index + word.count)].elementsEqual(word)
  }

  private mutating func keep(_ count: Int = 1) {
    for _ in 0..<count where index < text.count {
      result.append(text[index])
      index += 1
    }
  }

  private mutating func hide(_ count: Int = 1) {
    for _ in 0..<count where index < text.count {
      result.append(text[index] == Byte.newline ? Byte.newline : Byte.space)
      index += 1
    }
  }
}
