import WaybillEngine
import WaybillLedger
import WaybillModel

func upload(_ paths: [String], to server: String, token: String) async throws {
  let ledger = try await Ledger.open(directory: "Library/Waybill")
  let credentials = CredentialProvider { refused in refused ? nil : Secret(token) }
  let engine = UploadEngine(ledger: ledger, transport: CurlTransport(), credentials: credentials)
  _ = try await engine.add(paths.map { PickedFile(path: [UInt8]($0.utf8)) }, to: Destination(server))
  print("the run ended:", try await engine.run(.drain))
  print("committed:", try await ledger.reader.counts()[.committed])
  await ledger.close()
}
