public import Observation
public import WaybillLedger
public import WaybillModel

/// What a screen binds to: the uploads of a ledger as rows, how far they are, and what a person has
/// to be told.
///
/// It shows what the log has evidence for and keeps nothing of its own: two models of one ledger
/// show the same. While it follows, the main actor gets at most ten updates a second, each of the
/// size of what has changed, however many uploads there are. It does not run the engine, since
/// uploads go on when the screen is gone.
@MainActor @Observable
public final class UploadsModel {
  /// The uploads in the order of adding. A row that stays is the same object from change to change;
  /// the list itself changes only when uploads come or go.
  public internal(set) var rows: [UploadRow] = []
  /// How far the current batch is.
  public internal(set) var progress = BatchProgress()
  /// Whether `rows` are all there are; false until the first replay of the ledger is through.
  public internal(set) var isLoaded = false
  /// What became of picked files that are not in the list because of it; there until
  /// `dismissNotice`, and never twice for one pick.
  public private(set) var notice: PickNotice?
  /// The first files of the notice that could not be taken, each with the reason.
  public private(set) var unavailable: [UnavailableFile] = []
  /// What went wrong and has not been put away yet, oldest first, one of each kind.
  public private(set) var problems: [UploadProblem] = []

  let surroundings = Surroundings()
  @ObservationIgnored let engine: UploadEngine
  @ObservationIgnored let clock: any Clock<Duration>
  @ObservationIgnored private let destination: Destination

  @ObservationIgnored var known: [UploadID: UploadRow] = [:]
  @ObservationIgnored var tally = BatchTally()
  /// The rows a replay has told of so far, where there were rows before it.
  @ObservationIgnored var replayed: Set<UploadID>?
  @ObservationIgnored var following: Task<Void, Never>?
  /// Counts the followings, so that what one still has to say does not reach the next.
  @ObservationIgnored var followings = 0
  @ObservationIgnored private var hasAppeared = false
  @ObservationIgnored private var watchers = 0

  /// How long the main actor is left alone after an update.
  public static let pause = Duration.milliseconds(100)
  /// How many files of a notice are named.
  public static let maximumNamed = 100

  /// Makes a model; it knows nothing until it follows.
  ///
  /// - Parameters:
  ///   - engine: the engine of the ledger; its runs are the caller's.
  ///   - destination: where picked files go.
  ///   - clock: measures the pause between updates.
  public init(
    engine: UploadEngine, destination: Destination, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.engine = engine
    self.destination = destination
    self.clock = clock
  }

  deinit { following?.cancel() }

  /// What every upload waits for now, in words, for a line above the list; nil while nothing holds
  /// up all of them.
  public var banner: StateCopy? { surroundings.waiting.map { StateCopy.waiting($0) } }

  /// The row of an upload; nil when there is none in the list.
  public func row(_ id: UploadID) -> UploadRow? { known[id] }

  // MARK: Following

  /// Begins to follow the ledger; while it does, nothing happens. After an error, which
  /// `problem` shows, it begins anew.
  public func onAppear() {
    hasAppeared = true
    beginFollowing()
  }

  /// Ends what `onAppear` began. The rows stay as they are.
  public func onDisappear() {
    hasAppeared = false
    endFollowingUnwatched()
  }

  /// Follows until the caller is cancelled: for a view's `task`, in place of the other two.
  public func follow() async {
    watchers += 1
    beginFollowing()
    let (ends, never) = AsyncStream<Void>.makeStream()
    for await _ in ends {}
    withExtendedLifetime(never) { watchers -= 1 }
    endFollowingUnwatched()
  }

  private func endFollowingUnwatched() {
    if !hasAppeared, watchers == 0 { endFollowing() }
  }

  // MARK: Adding

  /// Takes picked files in, in order. What is not queued because of it is told by `notice`, an
  /// error by `problem`. Cancelling the caller stops the rest.
  public func picked(_ files: [PickedFile], priority: Priority = .normal) async {
    do throws(LedgerError) {
      tell(try await engine.add(files, to: destination, priority: priority), of: files.count)
    } catch {
      report(error)
    }
  }

  private func tell(_ summary: AddSummary, of count: Int) {
    let isFull = summary.unavailable.count { $0.error.code == .diskFull }
    let told =
      summary.queued.count + summary.alreadyUploaded.count + summary.alreadyQueued.count
      + summary.unavailable.count
    let news = PickNotice(
      alreadyUploaded: summary.alreadyUploaded.count, alreadyQueued: summary.alreadyQueued.count,
      unreadable: summary.unavailable.count - isFull, withoutRoom: isFull,
      notLookedAt: count - told)
    guard !news.isEmpty else { return }
    // What nobody has seen yet is not lost to a second pick.
    notice = (notice ?? PickNotice()) + news
    unavailable +=
      summary.unavailable.prefix(UploadsModel.maximumNamed - unavailable.count)
      .map { UnavailableFile(name: $0.file.name.display, reason: $0.error.description) }
  }

  /// Puts the notice away.
  public func dismissNotice() {
    notice = nil
    unavailable = []
  }

  // MARK: Orders

  /// Gives an upload up.
  public func cancel(_ id: UploadID) async { await cancel([id]) }
  /// Gives uploads up.
  public func cancel(_ ids: [UploadID]) async { await order(.cancel(.user), ids) }
  /// Tries an upload again, from where it stands.
  public func retry(_ id: UploadID) async { await retry([id]) }
  /// Tries uploads again, each from where it stands.
  public func retry(_ ids: [UploadID]) async { await order(.retry, ids) }
  /// Holds an upload back; parts on their way still arrive.
  public func pause(_ id: UploadID) async { await pause([id]) }
  /// Holds uploads back; parts on their way still arrive.
  public func pause(_ ids: [UploadID]) async { await order(.pause, ids) }
  /// No longer holds an upload back.
  public func resume(_ id: UploadID) async { await resume([id]) }
  /// No longer holds uploads back.
  public func resume(_ ids: [UploadID]) async { await order(.resume, ids) }

  private func order(_ command: UploadCommand, _ ids: [UploadID]) async {
    do throws(LedgerError) {
      let refused = try await engine.grant(command, to: ids)
      for id in ids { if let rejection = refused[id] { add(UploadProblem(rejection)) } }
    } catch {
      report(error)
    }
  }

  // MARK: Problems

  /// The problem to show now; nil when there is none.
  public var problem: UploadProblem? { problems.first }

  /// Puts the problem that is shown away; the next one, if there is one, follows.
  public func dismissProblem() {
    if !problems.isEmpty { problems.removeFirst() }
  }

  /// Shows an error of the ledger as a problem: those of the engine's runs are the caller's to
  /// bring here.
  public func report(_ error: LedgerError) { add(UploadProblem(error)) }

  private func add(_ problem: UploadProblem) {
    if !problems.contains(where: { $0.kind == problem.kind }) { problems.append(problem) }
  }
}

/// A picked file that could not be taken.
public struct UnavailableFile: Equatable, Sendable {
  /// The person's name for it, with what could deceive the eye spelled out.
  public let name: String
  /// Why, in English.
  public let reason: String
}
