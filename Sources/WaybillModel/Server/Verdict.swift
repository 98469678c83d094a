/// What one outcome of one call proves, and what it asks of us.
public enum Verdict: Equatable, Sendable {
  /// The server stated a fact, in a reply that passed every check.
  case statement(ServerStatement)
  /// Nothing is proved; the same call may be made again, not before the pause the server asked
  /// for, in milliseconds, where it did. Whether an attempt is charged is the failure's matter.
  case wait(FailureKind, status: Int?, askedMilliseconds: Int64?)
  /// The credential was not accepted; no attempt is charged, everything waits for a new one.
  case credentialsRejected(status: Int)
  /// No repeat will mend it: a person has to decide.
  case blocked(AttentionReason, status: Int?)
  /// The commit was refused because the record has moved on to this version.
  case conflict(currentVersion: Int64)
  /// The commit was refused because the server lacks parts: ask for the status.
  case partsMissing
  /// The commit is still under way: ask for the status, after the pause asked for, in milliseconds.
  case inProgress(status: Int, askedMilliseconds: Int64?)
}

/// A fact the server stated about one upload.
public enum ServerStatement: Equatable, Sendable {
  /// It opened a session, or names the one it opened before.
  case opened(SessionOffer)
  /// It has an object with these bytes already.
  case alreadyStored(StoredObject)
  /// It holds these parts, the one just sent among them.
  case held(PartSet)
  /// Its account of the session.
  case status(ServerStatus)
  /// It bound the object to its record; the hash is always stated.
  case committed(StoredObject)
  /// It has no such session (any more).
  case sessionDeleted
}
