import Testing
import WaybillTesting

@testable import WaybillModel

struct RandomHistoryTests {
  /// Histories of a run; a seed that once failed is found again by its number.
  private static let batches: [ClosedRange<UInt64>] = (0..<20).map {
    ($0 * 200)...($0 * 200 + 199)
  }

  @Test(arguments: batches)
  func `no order of commands, claims and reconciliations breaks an invariant`(
    seeds: ClosedRange<UInt64>
  ) {
    for seed in seeds {
      var world = RandomWorld(seed)
      for _ in 0..<60 where world.broken == nil { world.step() }
      world.checkRefold()
      if let broken = world.broken {
        var again = RandomWorld(seed, isTracing: true)
        while again.broken == nil, again.steps < world.steps { again.step() }
        Issue.record("seed \(seed): \(broken)\n\(again.trace.joined(separator: "\n"))")
        return
      }
    }
  }

  @Test func `random histories reach every state and every kind of event`() {
    var words: Set<StateWord> = []
    var kinds: Set<EventKind> = []
    for seed in UInt64(0)..<400 {
      var world = RandomWorld(seed)
      for _ in 0..<60 {
        world.step()
        if let word = world.history.upload.stateWord { words.insert(word) }
      }
      kinds.formUnion(world.history.log.compactMap(\.kind))
    }
    #expect(words == Set(StateWord.allCases))
    // A verification is recorded together with the commit, so there is none to revoke.
    let expected = Set(EventKind.allCases.filter { !$0.isLedgerKind })
      .subtracting([.verificationRevoked])
    #expect(kinds == expected)
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func `claims in any order and doubled reach the same state`(number: UInt64) {
    var seed = Seed(number)
    let start = given(Samples.opened()).and((0..<3).map { Samples.sent($0) })
    var claims: [UploadObservation] = (0..<3).filter { _ in !seed.once(in: 4) }
      .map { Samples.held($0, server: Array(0...$0)) }
    claims += (0..<3).filter { _ in seed.once(in: 3) }.map {
      .partFailed(Samples.transfer($0), .interrupted, status: nil, notBefore: nil)
    }
    if seed.once(in: 3) { claims.append(.committed(Samples.stored())) }
    if seed.once(in: 4) { claims.append(.conflicted(currentVersion: 9)) }
    let inOrder = RandomHistoryTests.outcome(of: claims, on: start)
    for _ in 0..<5 {
      let shuffled = (claims + claims.filter { _ in seed.once(in: 2) }).shuffled(using: &seed)
      let other = RandomHistoryTests.outcome(of: shuffled, on: start)
      #expect(other == inOrder, "seed \(number): \(shuffled)")
    }
  }

  private static func outcome(of claims: [UploadObservation], on start: History) -> [String] {
    var history = start
    for claim in claims { history.record(history.upload.decide(claim)) }
    let upload = history.upload
    guard upload.ending == nil else { return ["\(upload.state as UploadState?)"] }
    return ["\(upload.state as UploadState?)"]
      + upload.parts.indices.map { "\(upload.isConfirmed(PartNumber($0)))" }
  }
}

/// Drives one upload at random and says which invariant broke.
private struct RandomWorld {
  var history = History()
  var steps = 0
  var trace: [String] = []
  var broken: String?
  private let isTracing: Bool
  private var seed: Seed
  private let byteCount: Int64
  private let partSize: Int64
  private let isSequential: Bool
  private var transfers: [TransferDescription] = []
  private var attempts: Set<[Int]> = []
  private var sessions = 0

  init(_ number: UInt64, isTracing: Bool = false) {
    seed = Seed(number)
    self.isTracing = isTracing
    partSize = 65_536
    byteCount = [0, 1, 65_536, 65_537, 200_000, 327_680][seed.below(6)]
    isSequential = seed.once(in: 3)
    if !seed.once(in: 10) {
      for command: UploadCommand in [
        .export(Samples.exported(byteCount: byteCount)), .hash(Samples.hash),
        .queue(intent),
      ] {
        apply("\(command)", (try? history.upload.decide(command)) ?? [])
      }
    }
  }

  private var intent: Intent { isSequential ? Samples.sequentialIntent : Samples.intent }

  private var partCount: Int { Int((byteCount + partSize - 1) / partSize) }

  mutating func step() {
    steps += 1
    switch seed.below(20) {
    case 0..<7: command()
    case 7..<15: observe()
    case 15: history = history.relaunched()
    default: reconcile()
    }
  }

  // MARK: What happens

  private mutating func command() {
    let command: UploadCommand =
      switch seed.below(24) {
      case 0: .export(Samples.exported(byteCount: byteCount))
      case 1: .hash(Samples.hash)
      case 2: .queue(intent)
      case 3 where seed.once(in: 8): .deduplicate(.upload(Samples.otherUpload))
      case 4 where seed.once(in: 8): .cancel(.user)
      case 5, 6: .retry
      case 7 where seed.once(in: 2): .pause
      case 8, 9: .resume
      case 10: .releaseCopy
      default: .send(PartNumber(seed.below(partCount + 2) - 1))
      }
    apply("\(command)", (try? history.upload.decide(command)) ?? [])
  }

  private mutating func observe() {
    let observation: UploadObservation =
      switch seed.below(24) {
      case 0..<4: .opened(offer())
      case 4..<13: .partHeld(transfer(), received: parts())
      case 13..<17:
        .partFailed(
          transfer(), FailureKind.allCases[seed.below(FailureKind.allCases.count)],
          status: seed.once(in: 2) ? 500 : nil,
          notBefore: seed.once(in: 2) ? Samples.time.adding(milliseconds: 500) : nil)
      case 17:
        .delayed(
          DelayedStep.allCases[seed.below(DelayedStep.allCases.count)],
          FailureKind.allCases[seed.below(FailureKind.allCases.count)], status: nil,
          until: Samples.time.adding(milliseconds: 500))
      case 18: .committed(object())
      case 19 where seed.once(in: 6): .alreadyStored(object())
      case 20 where seed.once(in: 3): .conflicted(currentVersion: Int64(seed.below(3)))
      case 21 where seed.once(in: 3):
        .blocked(AttentionReason.allCases[seed.below(AttentionReason.allCases.count)], status: 400)
      default: .partHeld(transfer(), received: PartSet(all: partCount))
      }
    apply("\(observation)", history.upload.decide(observation))
  }

  private mutating func reconcile() {
    if seed.once(in: 3) {
      let live = Set(history.upload.flights.filter { _ in seed.once(in: 2) })
      reconcile("live \(live)") { Reconciliation.compare($0, with: live) }
    } else {
      let status: ServerStatus =
        switch seed.below(8) {
        case 0: .gone
        case 1: .received
        case 2 where seed.once(in: 3): .committed(object())
        case _ where isSequential: .at(offset: Int64(seed.below(Int(byteCount) + 1)))
        default: .open(received: parts())
        }
      reconcile("\(status)") { Reconciliation.compare($0, with: status) }
    }
  }

  private mutating func reconcile(
    _ name: @autoclosure () -> String, _ compare: (Upload) -> [ProposedEvent]
  ) {
    apply("reconcile \(name())", compare(history.upload))
    var again = history
    if !again.record(compare(history.upload)).isEmpty { fail("reconciled twice, appended twice") }
  }

  private mutating func offer() -> SessionOffer {
    sessions += seed.once(in: 3) ? 1 : 0
    return SessionOffer(
      session: SessionReference("ses-\(sessions)"),
      partSize: seed.once(in: 12) ? Int64(seed.below(100_000)) : partSize,
      partCount: seed.once(in: 12) ? seed.below(9) : partCount, expires: nil,
      received: seed.once(in: 3) ? parts() : PartSet())
  }

  private mutating func transfer() -> TransferDescription {
    if !transfers.isEmpty, !seed.once(in: 6) { return transfers[seed.below(transfers.count)] }
    // Of a launch this log knows nothing of: no launch reports an attempt before it announces it.
    return TransferDescription(
      upload: seed.once(in: 4) ? Samples.otherUpload : Samples.upload,
      part: PartNumber(seed.below(partCount + 2) - 1), attempt: seed.below(5) + 1,
      launch: LaunchGeneration(Int64(seed.below(3) + 100)))
  }

  private mutating func parts() -> PartSet {
    if seed.once(in: 4) { return PartSet(all: partCount) }
    let bound = partCount + (seed.once(in: 8) ? 2 : 0)
    return PartSet((0..<bound).filter { _ in !seed.once(in: 3) })
  }

  private mutating func object() -> StoredObject {
    StoredObject(
      remote: Samples.remote, version: seed.once(in: 2) ? 2 : nil,
      hash: seed.once(in: 3) ? Samples.otherHash : seed.once(in: 4) ? nil : Samples.hash,
      status: 200)
  }

  // MARK: What must hold

  private mutating func fail(_ reason: String) { broken = broken ?? reason }

  private mutating func apply(_ cause: @autoclosure () -> String, _ proposals: [ProposedEvent]) {
    if isTracing {
      trace.append("\(history.log.count) \(cause()) → \(proposals.map(\.event.kind.rawValue))")
    }
    for proposal in proposals {
      let before = history.upload
      checkProposal(proposal, on: before)
      guard let recorded = history.record([proposal]).first else { continue }
      guard recorded.body == .upload(proposal.event) else {
        fail("\(proposal.event) does not read back: \(recorded.body)")
        return
      }
      checkStep(proposal.event, from: before, to: history.upload)
    }
  }

  private mutating func checkProposal(_ proposal: ProposedEvent, on upload: Upload) {
    let corrected = proposal.compensates.flatMap { position in
      history.log.first { $0.position == position }?.kind
    }
    let rightKinds: [EventKind]? =
      switch proposal.event {
      case .partRevoked: [.partConfirmed, .partRevoked, .sessionOpened]
      case .transferLost: [.partSent]
      case .sessionExpired: [.sessionOpened]
      case .verificationRevoked: [.uploadVerified]
      default: nil
      }
    if let rightKinds {
      if !rightKinds.contains(where: { $0 == corrected }) {
        fail("\(proposal.event) corrects \(String(describing: corrected))")
      }
    } else if proposal.compensates != nil {
      fail("\(proposal.event) claims to correct something")
    }
    switch proposal.event {
    case .noted, .copyReleased: break
    default: if upload.ending != nil { fail("\(proposal.event) after the end") }
    }
    switch proposal.event {
    case .committed(let committed):
      if committed.hash != upload.hash || upload.verified == nil { fail("committed unproved") }
    case .partSent(let sent):
      transfers.append(
        TransferDescription(
          upload: upload.id, part: sent.part, attempt: sent.attempt, launch: history.launch))
      if !attempts.insert([sent.part.index, sent.attempt]).inserted { fail("attempt repeats") }
      if upload.paused != nil || upload.attention != nil { fail("sent while held back") }
      if isSequential, !upload.flights.isEmpty { fail("two parts of one offset on their way") }
    default: break
    }
  }

  private mutating func checkStep(_ event: UploadEvent, from before: Upload, to after: Upload) {
    switch event {
    case .noted, .copyReleased: break
    default:
      if RandomWorld.timeless(before) == RandomWorld.timeless(after) {
        fail("\(event) was ignored silently")
      }
    }
    switch event {
    case .partRevoked, .sessionExpired, .verificationRevoked: break
    default:
      if after.confirmedBytes < before.confirmedBytes { fail("bytes fell at \(event)") }
    }
    let sum = after.confirmedBytes + after.bytesInFlight
    if after.confirmedBytes < 0 || sum > after.byteCount { fail("\(sum) bytes after \(event)") }
    if let row = QueuedUpload(after, progress: .max), !(0...row.byteCount).contains(row.bytesSent) {
      fail("\(row.bytesSent) bytes shown after \(event)")
    }
    if after.ending == nil, after.received != nil, !after.allPartsConfirmed,
      !RandomWorld.isEvidence(event)
    {
      fail("received without all parts after \(event)")
    }
    if after.attempts.contains(where: { $0 > Int(Int32.max) }) { fail("attempts out of range") }
    if after.ending == nil, after.copy != nil, after.state == nil { fail("vanished from the view") }
  }

  /// The events that lead to `committed` in one transaction need no parts of ours.
  private static func isEvidence(_ event: UploadEvent) -> Bool {
    switch event {
    case .received, .verified: true
    default: false
    }
  }

  private static func timeless(_ upload: Upload) -> Upload {
    var copy = upload
    copy.revision = .none
    copy.lastPosition = .start
    copy.firstPosition = .start
    copy.changed = Samples.time
    return copy
  }

  mutating func checkRefold() {
    var again = Upload(id: history.upload.id)
    for recorded in history.log { again.evolve(recorded) }
    if again != history.upload { fail("folding again gives another state") }
  }
}

extension Upload {
  fileprivate var attempts: [Int] { parts.map(\.attempt) }
}
