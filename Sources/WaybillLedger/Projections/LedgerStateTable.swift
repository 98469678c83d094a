internal import WaybillModel
internal import WaybillSQLite

/// The ledger's own stream, folded: the one row of the table `ledger_state`.
///
/// Every launch adds an event to that stream, so folding it at each launch and for each page of the
/// queue would cost more for every launch there ever was.
enum LedgerStateTable: DerivedTable {
  static let name = "ledger_state"
  static let version: Int64 = 1

  /// The column `sealed` as a number.
  private static let seals: [LocalCopies?] = [nil, .keep, .discard]

  /// Writes the row; bind it with `bind`.
  static let write = """
    INSERT INTO ledger_state (stream, revision, launch, network, credentials, sealed, tail_lost)
    VALUES (0, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, launch = excluded.launch,
      network = excluded.network, credentials = excluded.credentials, sealed = excluded.sealed,
      tail_lost = excluded.tail_lost
    """

  static func bind(_ state: LedgerState, to statement: Statement) {
    statement.bind(1, state.revision.value)
    statement.bind(2, state.launch?.value)
    statement.bind(3, state.conditions.network.rawValue)
    statement.bind(4, state.conditions.credentials.rawValue)
    statement.bind(5, Int64(seals.firstIndex(of: state.seal) ?? 0))
    statement.bind(6, state.tailLost?.value)
  }

  /// The row; nil where there is none, where it is not one of ours, and where the stream has grown
  /// behind it, as it does under a program that does not know this table.
  static func read(_ connection: Connection) throws(SQLiteError) -> LedgerState? {
    guard let statement = try prepareToRead(connection) else { return nil }
    return try statement.firstRow { row in
      guard row.int(0) == row.int(6),
        let network = Conditions.Network(rawValue: row.text(2)),
        let credentials = Conditions.Credentials(rawValue: row.text(3)),
        (0..<Int64(seals.count)).contains(row.int(4))
      else { return nil }
      return LedgerState(
        revision: StreamRevision(row.int(0)),
        launch: row.optionalInt(1).map { LaunchGeneration($0) },
        conditions: Conditions(network: network, credentials: credentials),
        seal: seals[Int(row.int(4))], tailLost: row.optionalInt(5).map { GlobalPosition($0) })
    } ?? nil
  }

  /// nil where the table is missing or has other columns.
  private static func prepareToRead(_ connection: Connection) throws(SQLiteError) -> Statement? {
    do throws(SQLiteError) {
      return try connection.prepare(
        "SELECT revision, launch, network, credentials, sealed, tail_lost,"
          + " (SELECT max(revision) FROM events WHERE stream = 0)"
          + " FROM ledger_state WHERE stream = 0")
    } catch {
      guard error.code.primary == .error else { throw error }
      return nil
    }
  }

  static func isUsable(_ connection: Connection) -> Bool { (try? read(connection)) ?? nil != nil }

  /// Folds the whole stream: a row that can be carried on from is never folded anew.
  static func fold(_ connection: Connection, after position: Int64?) throws(SQLiteError) {
    let statement = try connection.prepare(write)
    bind(try LogReading.ledgerState(connection), to: statement)
    try statement.run()
  }
}
