#if os(Linux)
  internal import WaybillModel

  /// Refuses what would not leave as one well-formed request.
  enum RequestCheck {
    /// Headers that only the transport may write: they frame the message.
    private static let ownHeaders: Set<String> = ["content-length", "transfer-encoding", "expect"]

    /// The header lines for libcurl, with an empty `Expect`: a server that ignores it would cost a
    /// second for each body.
    static func headerLines(of request: HTTPRequest) throws(Unsendable) -> [String] {
      var lines = ["Expect:"]
      for header in request.headers {
        guard isToken(header.name), !ownHeaders.contains(header.name.lowercased()),
          !header.value.utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 })
        else { throw Unsendable(reason: .unusable) }
        // libcurl takes "Name:" as "leave this header out"; "Name;" sends it empty.
        let isEmpty = header.value.utf8.allSatisfy { $0 == 32 || $0 == 9 }
        lines.append(isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
      }
      return lines
    }

    /// Only whole `http` and `https` URLs without blanks or control characters.
    static func check(url: String) throws(Unsendable) {
      let scheme = url.prefix(8).lowercased()
      guard scheme.hasPrefix("http://") || scheme == "https://",
        url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
      else { throw Unsendable(reason: .unusable) }
    }

    /// A token of RFC 9110 section 5.6.2.
    private static func isToken(_ name: String) -> Bool {
      !name.isEmpty
        && name.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
          default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
          }
        }
    }
  }
#endif
