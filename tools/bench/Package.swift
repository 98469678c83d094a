// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "WaybillBench",
  platforms: [.macOS(.v14)],
  dependencies: [.package(name: "Waybill", path: "../..")],
  targets: [
    .target(name: "CBaseline", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CBaseline", .product(name: "Waybill", package: "Waybill"),
        .product(name: "WaybillServer", package: "Waybill"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .treatAllWarnings(as: .error),
      ]),
  ],
  cLanguageStandard: .c2x
)
