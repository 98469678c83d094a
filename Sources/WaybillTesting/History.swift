public import WaybillModel

/// The log of one upload on paper: events are recorded and folded as a ledger would, without one.
///
/// Positions, revisions and times count up by themselves, and a proposal whose observation key is
/// already in the log is not recorded again.
public struct History: Sendable {
  /// What was recorded, in order. Positions are consecutive from 1.
  public private(set) var log: [RecordedEvent] = []
  /// The fold of the log.
  public private(set) var upload: Upload
  /// The launch that records now.
  public private(set) var launch = LaunchGeneration(1)

  /// Makes a history without events.
  public init(of upload: UploadID = Samples.upload) { self.upload = Upload(id: upload) }

  /// The history with more events, recorded as if they had been decided.
  public func and(_ events: UploadEvent...) -> History { and(events) }

  /// The history with more events, recorded as if they had been decided.
  public func and(_ events: [UploadEvent]) -> History {
    var next = self
    next.record(events.map { ProposedEvent($0, cause: .command) })
    return next
  }

  /// The history behind one more launch of the ledger.
  public func relaunched() -> History {
    var next = self
    next.launch = LaunchGeneration(launch.value + 1)
    return next
  }

  /// Records what was decided, and folds it.
  ///
  /// - Returns: the events that were new, in order.
  @discardableResult
  public mutating func record(_ proposals: [ProposedEvent]) -> [RecordedEvent] {
    proposals.compactMap { proposal in
      if let key = proposal.observation, log.contains(where: { $0.observation == key }) {
        return nil
      }
      return record(
        kindName: proposal.event.kind.rawValue, version: proposal.event.version,
        fields: proposal.event.fields, proposal: proposal)
    }
  }

  /// Records stored fields as they are, readable or not.
  @discardableResult
  public mutating func record(
    kindName: String, version: Int = 1, fields: EventFields, proposal: ProposedEvent? = nil
  ) -> RecordedEvent {
    let place = Int64(log.count + 1)
    let time = Timestamp(microseconds: Samples.time.microseconds + place * 1_000_000)
    let halves = UUIDv7.halves(time: time, random: UInt64(place))
    let recorded = RecordedEvent(
      position: GlobalPosition(place), id: EventID(high: halves.high, low: halves.low),
      upload: upload.id, revision: StreamRevision(place), kindName: kindName, version: version,
      time: time, causeName: (proposal?.cause ?? .command).rawValue, launch: launch,
      compensates: proposal?.compensates, observation: proposal?.observation, fields: fields)
    log.append(recorded)
    upload.evolve(recorded)
    return recorded
  }
}
