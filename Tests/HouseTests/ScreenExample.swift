import WaybillEngine
import WaybillLedger
import WaybillModel

/// Made once for the app: uploads go on when the screen is gone.
@MainActor
func openUploads(
  in folder: String, to server: String, over transport: any Transport, as user: CredentialProvider
) async throws -> UploadsModel {
  let ledger = try await Ledger.open(directory: folder)
  let engine = UploadEngine(ledger: ledger, transport: transport, credentials: user)
  let model = UploadsModel(engine: engine, destination: try Destination(server))
  Task {
    do throws(LedgerError) { _ = try await engine.run(.follow) } catch { model.report(error) }
  }
  return model
}

#if canImport(SwiftUI)
  import SwiftUI

  struct UploadsScreen: View {
    let model: UploadsModel
    var style = PhraseStyle.english

    var body: some View {
      List {
        ProgressView(style.text(model.progress.phrase), value: model.progress.fraction)
        ForEach(model.notice?.phrases ?? [], id: \.self) { Text(style.text($0)) }
          .onTapGesture { model.dismissNotice() }
        ForEach(model.rows) { row in
          Label(row.name, systemImage: row.copy.glyph)
            .badge(style.text(row.copy.title))
            .accessibilityLabel("\(row.name). \(row.copy.label(style))")
            .swipeActions {
              if row.canRetry { Button("Retry") { Task { await model.retry(row.id) } } }
              if row.canCancel { Button("Cancel") { Task { await model.cancel(row.id) } } }
            }
        }
      }
      .onAppear { model.onAppear() }
      .onDisappear { model.onDisappear() }
      .alert(
        model.problem.map { style.text($0.text) } ?? "",
        isPresented: .constant(model.problem != nil)
      ) {
        Button("OK") { model.dismissProblem() }
      } message: {
        Text(model.problem.map { style.text($0.remedy) } ?? "")
      }
    }
  }
#endif
