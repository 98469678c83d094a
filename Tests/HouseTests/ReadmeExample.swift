import WaybillEngine
import WaybillLedger
import WaybillModel

func upload(_ paths: [String], to server: String, token: String) async throws {
  let ledger = try await Ledger.open(directory: "Library/Waybill")
  let credentials = CredentialProvider { refused in refused ? nil : Secret(token) }
  let engine = UploadEngine(
    ledger: ledger, transport: CurlTransport(), credentials: credentials)
  async let shown: Void = show(ledger)
  let files = paths.map { PickedFile(path: [UInt8]($0.utf8)) }
  _ = try await engine.add(files, to: Destination(server))
  print("the run ended:", try await engine.run(.drain))
  await ledger.close()
  try await shown
}

func show(_ ledger: Ledger) async throws {
  for try await update in ledger.uploads() {
    guard case .changed(let uploads) = update else { continue }
    for upload in uploads { print(upload.fileName.display, upload.state.word) }
  }
}
