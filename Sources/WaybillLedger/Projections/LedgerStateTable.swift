internal import WaybillModel
internal import WaybillSQLite

/// The ledger's own stream, folded: the one row of the table `ledger_state`.
///
/// Every launch adds an event to that stream, so folding it at each launch and for each page of the
/// queue would cost more for every launch there ever was.
enum LedgerStateTable: DerivedTable {
  static let name = "ledger_state"
  static let version: Int64 = 3

  /// The column `sealed` as a number.
  private static let seals: [LocalCopies?] = [nil, .keep, .discard]

  /// Writes the row; bind it with `bind`.
  static let write = """
    INSERT INTO ledger_state (stream, revision, launch, network, credentials, sealed, tail_lost,
      held, held_until, link, metered, low_data, power, battery_saver, account_salt, account)
    VALUES (0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, launch = excluded.launch,
      network = excluded.network, credentials = excluded.credentials, sealed = excluded.sealed,
      tail_lost = excluded.tail_lost, held = excluded.held, held_until = excluded.held_until,
      link = excluded.link, metered = excluded.metered, low_data = excluded.low_data,
      power = excluded.power, battery_saver = excluded.battery_saver,
      account_salt = excluded.account_salt, account = excluded.account
    """

  static func bind(_ state: LedgerState, to statement: Statement) {
    statement.bind(1, state.revision.value)
    statement.bind(2, state.launch?.value)
    statement.bind(3, state.conditions.network.rawValue)
    statement.bind(4, state.conditions.credentials.rawValue)
    statement.bind(5, Int64(seals.firstIndex(of: state.seal) ?? 0))
    statement.bind(6, state.tailLost?.value)
    statement.bind(7, state.conditions.held?.reason.rawValue)
    statement.bind(8, state.conditions.held?.until?.microseconds)
    let device = state.conditions.device
    statement.bind(9, device.link.rawValue)
    statement.bind(10, device.isMetered.map { $0 ? 1 : 0 })
    statement.bind(11, device.isLowData.map { $0 ? 1 : 0 })
    statement.bind(12, device.power.rawValue)
    statement.bind(13, device.isBatterySaver.map { $0 ? 1 : 0 })
    statement.bind(14, state.account.map { Base64.encode($0.salt) })
    statement.bind(15, state.account?.digest.description)
  }

  /// The row; nil where there is none, where it is not one of ours, and where the stream has grown
  /// behind it, as it does under a program that does not know this table.
  static func read(_ connection: Connection) throws(SQLiteError) -> LedgerState? {
    guard let statement = try prepareToRead(connection) else { return nil }
    return try statement.firstRow { row in
      guard row.int(0) == row.int(15), let conditions = conditions(row),
        (0..<Int64(seals.count)).contains(row.int(4))
      else { return nil }
      let (isRead, account) = account(row)
      // An account that cannot be read must not look like a ledger that is nobody's.
      guard isRead else { return nil }
      return LedgerState(
        revision: StreamRevision(row.int(0)),
        launch: row.optionalInt(1).map { LaunchGeneration($0) }, conditions: conditions,
        account: account, seal: seals[Int(row.int(4))],
        tailLost: row.optionalInt(5).map { GlobalPosition($0) })
    } ?? nil
  }

  /// The account the row names, and whether it could be read.
  private static func account(_ row: borrowing WaybillSQLite.Row) -> (isRead: Bool, Assigned?) {
    guard let salt = row.optionalText(13), let digest = row.optionalText(14) else {
      return (row.optionalText(13) == nil && row.optionalText(14) == nil, nil)
    }
    guard let salt = Base64.decode(salt), let digest = ContentHash(hex: digest) else {
      return (false, nil)
    }
    return (true, Assigned(salt: salt, digest: digest))
  }

  /// nil where a word in the row is none of ours.
  private static func conditions(_ row: borrowing WaybillSQLite.Row) -> Conditions? {
    guard let network = Conditions.Network(rawValue: row.text(2)),
      let credentials = Conditions.Credentials(rawValue: row.text(3)),
      let link = DeviceConditions.Link(rawValue: row.text(8)),
      let power = DeviceConditions.Power(rawValue: row.text(11))
    else { return nil }
    var held: Waiting?
    if let word = row.optionalText(6) {
      guard let reason = Waiting.Reason(rawValue: word) else { return nil }
      held = Waiting(reason, until: row.optionalInt(7).map { Timestamp(microseconds: $0) })
    }
    return Conditions(
      network: network, credentials: credentials, held: held,
      device: DeviceConditions(
        link: link, isMetered: row.optionalInt(9).map { $0 != 0 },
        isLowData: row.optionalInt(10).map { $0 != 0 }, power: power,
        isBatterySaver: row.optionalInt(12).map { $0 != 0 }))
  }

  /// nil where the table is missing or has other columns.
  private static func prepareToRead(_ connection: Connection) throws(SQLiteError) -> Statement? {
    do throws(SQLiteError) {
      return try connection.prepare(
        """
        SELECT revision, launch, network, credentials, sealed, tail_lost, held, held_until, link,
          metered, low_data, power, battery_saver, account_salt, account,
          (SELECT max(revision) FROM events WHERE stream = 0)
        FROM ledger_state WHERE stream = 0
        """)
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
