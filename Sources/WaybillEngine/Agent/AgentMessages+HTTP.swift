#if os(Linux)
  internal import WaybillModel

  /// Requests and outcomes as members of a JSON object.
  extension HTTPRequest {
    var members: [JSONValue.Member] {
      var members: [JSONValue.Member] = [
        .init("method", .text(method.rawValue)), .init("url", .text(url)),
        .init("headers", HTTPHeader.json(headers)),
      ]
      switch body {
      case .none: break
      case .bytes(let bytes): members.append(.init("bytes", .text(Base64.encode(bytes))))
      case .file(let slice):
        members += [
          .init("file", .text(slice.path)), .init("offset", .integer(slice.offset)),
          .init("count", .integer(slice.count)),
        ]
      }
      return members
    }

    init?(_ json: JSONValue) {
      guard let method = json["method"]?.text.flatMap(HTTPRequest.Method.init),
        let url = json["url"]?.text, let headers = HTTPHeader.read(json["headers"])
      else { return nil }
      let body: HTTPRequest.Body
      if let path = json["file"]?.text {
        guard let offset = json["offset"]?.integer, let count = json["count"]?.integer else {
          return nil
        }
        body = .file(FileSlice(path: path, offset: offset, count: count))
      } else if let text = json["bytes"]?.text {
        guard let bytes = Base64.decode(text) else { return nil }
        body = .bytes(bytes)
      } else {
        body = .none
      }
      self.init(method: method, url: url, headers: headers, body: body)
    }
  }

  extension HTTPOutcome {
    var members: [JSONValue.Member] {
      switch self {
      case .noReply(let reason): [.init("no_reply", .text(reason.rawValue))]
      case .reply(let reply):
        [
          .init("status", .integer(Int64(reply.status))),
          .init("headers", HTTPHeader.json(reply.headers)),
          .init("body", .text(Base64.encode(reply.body))),
          .init("truncated", .bool(reply.isTruncated)),
        ]
      }
    }

    init?(_ json: JSONValue) {
      if let word = json["no_reply"]?.text {
        guard let reason = NoReply(rawValue: word) else { return nil }
        self = .noReply(reason)
        return
      }
      guard let status = json["status"]?.integer, let isTruncated = json["truncated"]?.bool,
        let headers = HTTPHeader.read(json["headers"]),
        let body = json["body"]?.text.flatMap(Base64.decode),
        body.count <= HTTPReply.maximumBodyBytes
      else { return nil }
      self = .reply(
        HTTPReply(
          status: Int(clamping: status), headers: headers, body: body, isTruncated: isTruncated))
    }
  }

  extension HTTPHeader {
    static func json(_ headers: [HTTPHeader]) -> JSONValue {
      .array(headers.map { .array([.text($0.name), .text($0.value)]) })
    }

    static func read(_ json: JSONValue?) -> [HTTPHeader]? {
      guard let pairs = json?.array else { return nil }
      let headers = pairs.compactMap { pair -> HTTPHeader? in
        guard let pair = pair.array, pair.count == 2, let name = pair[0].text,
          let value = pair[1].text
        else { return nil }
        return HTTPHeader(name, value)
      }
      return headers.count == pairs.count ? headers : nil
    }
  }
#endif
