/// Every text a screen can show, for translators.
public enum UploadTexts {
  /// All phrases, each key once, with sample values in their places.
  public static let all: [Phrase] = states + actions + notices + problems + BatchProgress.phrases

  private static let states: [Phrase] = {
    let moment = Timestamp(seconds: 0)
    let waits = [nil] + Waiting.Reason.allCases.map { Waiting($0, until: moment) }
    let states: [UploadState?] =
      [.savedLocally, nil, .sending(confirmed: 0, inFlight: 0, total: 0)]
      + waits.map { .queued($0) } + [.committed(RemoteID(""))]
      + AttentionReason.allCases.map { .needsAttention($0, []) }
    let copies =
      states.map { StateCopy($0) }
      + waits.map { StateCopy(.verifying, waiting: $0, verifyingSince: moment) }
    return unique(copies.flatMap { [$0.title, $0.detail] + [$0.timing].compactMap { $0 } })
  }()

  private static let actions = NextAction.allCases.map(\.phrase)

  private static let notices =
    PickNotice(
      alreadyUploaded: 1, alreadyQueued: 1, unreadable: 1, withoutRoom: 1, notLookedAt: 1
    ).phrases

  private static let problems = ProblemKind.allCases.flatMap { [$0.phrase, $0.remedy] }

  private static func unique(_ phrases: [Phrase]) -> [Phrase] {
    var seen: Set<String> = []
    return phrases.filter { seen.insert($0.key).inserted }
  }
}
