internal import WaybillModel

/// One request on its way through the server. Each step is taken by one thread at a time: the
/// connection's own, and a worker's while the connection is suspended.
final class Exchange: @unchecked Sendable {
  /// How the connection goes on.
  enum Outcome {
    case reply(Reply)
    /// Close without a word.
    case close
  }

  private enum Sink {
    case discard
    case small
    case part(PartReceiver)
  }

  /// A body that is thrown away may be this long before the connection is closed: 64 MiB.
  private static let maximumDiscardedBytes: Int64 = 64 << 20

  private let desk: RequestDesk
  private let head: RequestHead
  private var route: Route?
  private var account: Account?
  private var plan = FaultPlan()
  private var sink = Sink.discard
  private var smallBody: [UInt8] = []
  private var bodyBytes: Int64 = 0
  /// Whether the body has to tell which upload it is before the script can be asked.
  private var isAimedByBody = false

  /// Set once it is known; the connection's thread then sends it.
  private(set) var outcome: Outcome?

  init(head: RequestHead, desk: RequestDesk) {
    self.head = head
    self.desk = desk
  }

  /// The connection it came on.
  var socket: Int32 { head.socket }
  var delayMilliseconds: Int { plan.delayMilliseconds }
  var dripMilliseconds: Int { plan.dripMilliseconds }

  // MARK: Steps

  /// Judges the head. An outcome known now is sent before any body is read.
  func begin() {
    do {
      try prepare()
    } catch {
      outcome = .reply(error.reply)
    }
  }

  private func prepare() throws(Problem) {
    try head.checkBounds()
    guard !desk.service.isStopping else {
      throw Problem(.stopping, "The server is stopping. Send the request again later.")
    }
    let route = try Route.find(method: head.method, path: head.path).get()
    self.route = route
    desk.countRequest(route.endpoint)
    account = desk.tokens.account(authorization: head.authorization)
    isAimedByBody = route.endpoint == .open && desk.faults.isAimed
    if !isAimedByBody {
      plan = desk.faults.plan(for: route.endpoint, of: target(of: route))
      if plan.drops {
        outcome = .close
        return
      }
      // A rehearsed answer comes when the body is there, as from any server that is busy.
      guard !plan.isAnswered else { return }
    }
    guard let account else {
      throw Problem(.unauthorized, "Send Authorization: Bearer TOKEN with a token that is valid.")
    }
    try desk.rates.take(route.endpoint, account: account)
    guard !account.isReadOnly || !route.endpoint.writes else {
      throw Problem(.readOnly, "This token may read only. Ask for one that may write.")
    }
    let key = try head.checkedKey()
    try desk.service.rehearse(plan, route: route, key: key, account: account)
    try prepareBody(route, key: key, account: account)
  }

  /// The upload of a session, where a rule wants to know it.
  private func target(of route: Route) -> FaultTarget? {
    guard desk.faults.isAimed, !route.id.isEmpty, let account else { return nil }
    return desk.service.faultTarget(of: route.id, account: account)
  }

  /// Notes that the whole body has come.
  func bodyEnded() {
    if case .part(let receiver) = sink { receiver.arrived() }
    aim()
  }

  /// Asks the script once the body has told which upload it is.
  private func aim() {
    guard isAimedByBody, outcome == nil, let route, let account else { return }
    let target = UploadService.faultTarget(ofOpening: smallBody)
    plan = desk.faults.plan(for: route.endpoint, of: target)
    if plan.drops { outcome = .close }
    guard !plan.isAnswered else { return }
    do {
      try desk.service.rehearse(plan, route: route, key: head.idempotencyKey, account: account)
    } catch {
      outcome = .reply(error.reply)
    }
  }

  private func prepareBody(_ route: Route, key: String?, account: Account) throws(Problem) {
    switch route.endpoint {
    case .open:
      try head.checkJSONBody(isRequired: true)
      sink = .small
    case .part:
      sink = .part(
        try desk.service.beginPart(route.id, part: route.part, head: head, account: account))
    case .commit:
      guard key != nil else {
        throw Problem(.keyMissing, "Send an Idempotency-Key with the commit.")
      }
      try head.checkJSONBody(isRequired: false)
      sink = .small
    case .status, .abandon, .photo, .photos, .content:
      try head.checkSmallBody()
      sink = .small
    }
  }

  /// Takes body bytes; false when there are so many that the connection must be closed.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bodyBytes += Int64(bytes.count)
    desk.countBody(bytes.count, endpoint: route?.endpoint)
    switch sink {
    case .part(let receiver): receiver.receive(bytes)
    case .small:
      let room = Int(RequestHead.maximumJSONBytes) + 1 - smallBody.count
      smallBody.append(contentsOf: bytes.prefix(room))
    case .discard: break
    }
    if case .part = sink { return true }
    return bodyBytes <= Exchange.maximumDiscardedBytes
  }

  /// Does the work, on a worker's thread, when the whole request is there.
  func finish() {
    guard outcome == nil else { return }
    if plan.isAnswered, let answer = plan.answer {
      outcome = plan.damage(answer).map { .reply($0) } ?? .close
      return
    }
    let reply: Reply
    do {
      reply = try work()
    } catch {
      reply = error.reply
    }
    // Frees the claim before the client can know, so that its next request does not meet it.
    sink = .discard
    outcome = plan.damage(reply).map { .reply($0) } ?? .close
  }

  /// Ends the request without its work, because the server stops.
  func giveUp() { outcome = .close }

  private func work() throws(Problem) -> Reply {
    guard let route, let account else {
      throw Problem(.serverError, "The request was not prepared. Send it again.")
    }
    guard smallBody.count <= RequestHead.maximumJSONBytes else {
      throw Problem(.tooLarge, "The body is larger than 65536 bytes.")
    }
    let service = desk.service
    switch (route.endpoint, sink) {
    case (.part, .part(let receiver)): return try service.finishPart(receiver)
    case (.part, _): throw Problem(.serverError, "The part was not taken. Send it again.")
    case (.open, _):
      return try service.open(key: head.idempotencyKey, body: smallBody, account: account)
    case (.status, _): return try service.status(route.id, account: account)
    case (.commit, _): return try service.commit(route.id, account: account)
    case (.abandon, _): return try service.abandon(route.id, account: account)
    case (.photo, _): return try service.photo(route.id, account: account)
    case (.content, _): return try service.content(route.id, account: account)
    case (.photos, _):
      return try service.photos(after: head.after, limit: head.limit, account: account)
    }
  }
}
