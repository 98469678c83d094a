/// What a transport task is about, written into the task itself so that it outlives the process.
///
/// The text form is `upload/part/attempt/launch`, the only thing that is left of an upload when a
/// system-owned transport hands its results to a new process.
public struct TransferDescription: Hashable, Sendable, CustomStringConvertible {
  /// The upload the part belongs to.
  public let upload: UploadID
  /// The part being sent.
  public let part: PartNumber
  /// Which attempt at the part, from 1.
  public let attempt: Int
  /// The launch that started it.
  public let launch: LaunchGeneration

  /// Makes a description from its four values.
  public init(upload: UploadID, part: PartNumber, attempt: Int, launch: LaunchGeneration) {
    self.upload = upload
    self.part = part
    self.attempt = attempt
    self.launch = launch
  }

  /// Reads the text form; nil for anything else.
  public init?(_ text: String) {
    let fields = text.split(separator: "/", omittingEmptySubsequences: false)
    guard fields.count == 4, let upload = UploadID(String(fields[0])), let part = Int(fields[1]),
      let attempt = Int(fields[2]), let launch = Int64(fields[3]),
      part >= 0, attempt >= 1, launch >= 1
    else { return nil }
    self.init(
      upload: upload, part: PartNumber(part), attempt: attempt, launch: LaunchGeneration(launch))
  }

  /// The text form.
  public var description: String { "\(upload)/\(part.index)/\(attempt)/\(launch.value)" }
}
