internal import CSQLite

/// One prepared statement of one `Connection`, used where that connection is used.
///
/// A statement left in the middle of its rows pins a read snapshot for as long as it lives, so
/// every walk over rows goes through `forEachRow` or `firstRow`, which always reset.
package final class Statement {
  private let handle: OpaquePointer
  private let connection: Connection
  /// The first failure to bind since the last run: a value that was not taken would be NULL.
  private var bindFailure = SQLITE_OK

  init(handle: OpaquePointer, connection: Connection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  // MARK: Binding (indices from 1, as in SQL)

  package func bind(_ index: Int32, _ value: Int64?) {
    if let value {
      note(sqlite3_bind_int64(handle, index, value))
    } else {
      note(sqlite3_bind_null(handle, index))
    }
  }

  package func bind(_ index: Int32, _ value: String?) {
    guard var value else {
      note(sqlite3_bind_null(handle, index))
      return
    }
    value.withUTF8 { text in
      // An empty buffer may have no address, and a null address would bind NULL.
      text.withMemoryRebound(to: CChar.self) { bytes in
        let count = Int32(bytes.count)
        if let base = bytes.baseAddress {
          note(waybill_bind_text(handle, index, base, count))
        } else {
          note(waybill_bind_text(handle, index, "", 0))
        }
      }
    }
  }

  package func bind(_ index: Int32, blob value: [UInt8]?) {
    guard let value else {
      note(sqlite3_bind_null(handle, index))
      return
    }
    value.withUnsafeBytes { bind(index, bytes: $0) }
  }

  package func bind(_ index: Int32, bytes: UnsafeRawBufferPointer) {
    if let base = bytes.baseAddress, !bytes.isEmpty {
      note(waybill_bind_blob(handle, index, base, Int32(bytes.count)))
    } else {
      note(sqlite3_bind_zeroblob(handle, index, 0))
    }
  }

  private func note(_ code: Int32) {
    if bindFailure == SQLITE_OK { bindFailure = code }
  }

  private func step() -> Int32 {
    guard bindFailure == SQLITE_OK else { return bindFailure }
    return sqlite3_step(handle)
  }

  private func reset() {
    sqlite3_reset(handle)
    bindFailure = SQLITE_OK
  }

  // MARK: Running

  /// Runs a statement that gives no rows, then resets it.
  package func run() throws(SQLiteError) {
    let code = step()
    reset()
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
  }

  /// Calls `body` for each row until it returns false or the rows end, then resets.
  package func forEachRow(_ body: (borrowing Row) -> Bool) throws(SQLiteError) {
    defer { reset() }
    let row = Row(handle: handle)
    while true {
      let code = step()
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      if !body(row) { return }
    }
  }

  /// The value `read` makes of the first row, or nil when there is none.
  package func firstRow<T>(_ read: (borrowing Row) -> T) throws(SQLiteError) -> T? {
    defer { reset() }
    let code = step()
    if code == SQLITE_DONE { return nil }
    guard code == SQLITE_ROW else { throw failure(code) }
    return read(Row(handle: handle))
  }

  private func failure(_ code: Int32) -> SQLiteError {
    connection.error(code, sql: String(cString: sqlite3_sql(handle)))
  }
}

/// The current row of a running statement. Columns are counted from 0, as in SQLite's C API.
package struct Row: ~Copyable {
  private let handle: OpaquePointer

  fileprivate init(handle: OpaquePointer) { self.handle = handle }

  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  package func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func optionalInt(_ column: Int32) -> Int64? {
    isNull(column) ? nil : int(column)
  }

  /// Text as SQLite holds it; invalid UTF-8 is repaired, so use `bytes` where bytes matter.
  package func text(_ column: Int32) -> String { optionalText(column) ?? "" }

  package func optionalText(_ column: Int32) -> String? {
    guard let text = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// The bytes of a text or blob column where SQLite holds them, empty for NULL; gone with the row.
  /// Not handed to a closure: a generic one is not specialized across modules, and this is the
  /// hottest read there is.
  package func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let base = sqlite3_column_blob(handle, column)
    let count = base == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
    return UnsafeRawBufferPointer(start: base, count: count)
  }

  package func bytes(_ column: Int32) -> [UInt8] { [UInt8](borrowedBytes(column)) }

  package func optionalBytes(_ column: Int32) -> [UInt8]? {
    isNull(column) ? nil : bytes(column)
  }
}
