internal import CSQLite

/// A SQLite result code, extended where SQLite gives one (sqlite.org/rescode.html).
package struct ResultCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The primary code: the low eight bits of an extended one.
  package var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  package static let error = ResultCode(rawValue: SQLITE_ERROR)
  package static let permission = ResultCode(rawValue: SQLITE_PERM)
  package static let busy = ResultCode(rawValue: SQLITE_BUSY)
  package static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  package static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  package static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
  package static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  /// The `-shm` file could not be made longer.
  package static let noRoomForIndex = ResultCode(rawValue: SQLITE_IOERR | (19 << 8))
  package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  package static let full = ResultCode(rawValue: SQLITE_FULL)
  package static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  package static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
}

/// A failed SQLite call. Bound values never appear in it: they may be a person's file names.
package struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  package let code: ResultCode
  package let message: String
  package let sql: String?

  package init(code: ResultCode, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  package var description: String {
    let place = sql.map { " in: \($0)" } ?? ""
    return "SQLite \(code.rawValue): \(message)\(place)"
  }
}
