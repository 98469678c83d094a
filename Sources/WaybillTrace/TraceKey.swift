/// The keys of all lines, each spelled here and in `schema/trace.md` only. Lines have them in this
/// order.
enum TraceKey: Int, CaseIterable {
  case kind, version
  // The header.
  case format, profile, cuts, device, app, ledgerFormat, firstPosition
  // An event.
  case position, eventID, uploadID, revision, time, timeMicroseconds, cause, launch, compensates
  case observation, part, bytes, attempt, until, untilMicroseconds, code, reference, hash, name
  case nameBase64, payload, chainBefore, chain
  // The footer.
  case count, sha256
  // Header and footer end with it.
  case lastPosition

  /// The key as it stands in a line.
  var name: StaticString {
    switch self {
    case .kind: "kind"
    case .version: "v"
    case .format: "format"
    case .profile: "profile"
    case .cuts: "cuts"
    case .device: "device"
    case .app: "app"
    case .ledgerFormat: "ledger_format"
    case .firstPosition: "first_position"
    case .position: "position"
    case .eventID: "event_id"
    case .uploadID: "upload_id"
    case .revision: "revision"
    case .time: "ts"
    case .timeMicroseconds: "ts_us"
    case .cause: "cause"
    case .launch: "launch"
    case .compensates: "compensates"
    case .observation: "observation"
    case .part: "part"
    case .bytes: "bytes"
    case .attempt: "attempt"
    case .until: "until"
    case .untilMicroseconds: "until_us"
    case .code: "code"
    case .reference: "reference"
    case .hash: "hash"
    case .name: "name"
    case .nameBase64: "name_base64"
    case .payload: "payload"
    case .chainBefore: "chain_before"
    case .chain: "chain"
    case .count: "count"
    case .sha256: "sha256"
    case .lastPosition: "last_position"
    }
  }
}
