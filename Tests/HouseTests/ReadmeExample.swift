import WaybillEngine
import WaybillLedger
import WaybillModel

func upload(_ paths: [String], to server: String, token: String) async throws {
  let ledger = try await Ledger.open(directory: "Library/Waybill")
  let credentials = CredentialProvider { refused in refused ? nil : Secret(token) }
  let engine = UploadEngine(ledger: ledger, transport: CurlTransport(), credentials: credentials)
  let files = paths.map { PickedFile(path: [UInt8]($0.utf8)) }
  _ = try await engine.add(files, to: Destination(server))
  print(try await engine.run(.drain), try await ledger.reader.counts()[.committed])
  await ledger.close()
}
