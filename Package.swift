// swift-tools-version: 6.2
import PackageDescription

/// Settings every Swift target of the house shares.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Waybill",
  platforms: [.iOS(.v17), .macOS(.v14)],
  products: [
    .library(
      name: "Waybill", targets: ["WaybillModel", "WaybillLedger", "WaybillTrace", "WaybillEngine"]),
    .library(name: "WaybillServer", targets: ["WaybillServer"]),
    .library(name: "WaybillTesting", targets: ["WaybillTesting"]),
    .executable(name: "waybill", targets: ["waybill"]),
  ],
  targets: [
    // Outside libraries, each behind one module map.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
    .systemLibrary(name: "CLinux"),

    // Everything that reaches a disk or a wire.
    .target(
      name: "CSchema", path: "schema",
      exclude: [
        "README.md", "agent.md", "ledger.sql", "trace.md", "migrations", "projections", "events",
        "http",
        "server",
      ],
      sources: ["schema.c"], publicHeadersPath: "include"),

    // The pure core, then one module for each outside thing.
    .target(name: "WaybillModel"),
    .target(
      name: "WaybillSystem",
      dependencies: [.target(name: "CLinux", condition: .when(platforms: [.linux]))]),
    .target(
      name: "WaybillHash",
      dependencies: [
        "WaybillModel", .target(name: "CCrypto", condition: .when(platforms: [.linux])),
      ]),
    .target(
      name: "WaybillSQLite",
      dependencies: ["CSchema", "CSQLite"]),
    .target(
      name: "WaybillLedger",
      dependencies: ["WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite"]),
    .target(
      name: "WaybillTrace",
      dependencies: ["WaybillModel", "WaybillSystem", "WaybillHash", "CLZ4"]),
    .target(
      name: "WaybillEngine",
      dependencies: [
        "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillLedger", "WaybillTrace",
        .target(name: "CCurl", condition: .when(platforms: [.linux])),
      ]),
    .target(
      name: "WaybillServer",
      dependencies: [
        "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite", "CMicroHTTPD",
      ]),
    .target(
      name: "WaybillTesting",
      dependencies: [
        "WaybillModel", "WaybillSystem", "WaybillLedger", "WaybillEngine", "WaybillServer",
      ]),
    .executableTarget(
      name: "waybill",
      dependencies: [
        "WaybillModel", "WaybillSystem", "WaybillHash", "WaybillSQLite", "WaybillLedger",
        "WaybillTrace", "WaybillEngine", "WaybillServer",
      ],
      path: "tools/waybill"),

    .testTarget(name: "WaybillModelTests", dependencies: ["WaybillModel", "WaybillTesting"]),
    .testTarget(
      name: "WaybillLedgerTests",
      dependencies: ["WaybillLedger", "WaybillSQLite", "WaybillTesting"]),
    .testTarget(
      name: "WaybillTraceTests",
      dependencies: ["WaybillTrace", "WaybillHash", "WaybillTesting", "CLZ4"]),
    .testTarget(
      name: "WaybillEngineTests",
      dependencies: ["WaybillSystem", "WaybillEngine", "WaybillServer", "WaybillTesting"]),
    .testTarget(name: "WaybillServerTests", dependencies: ["WaybillServer", "WaybillTesting"]),
    .testTarget(
      name: "CommandLineTests",
      dependencies: ["waybill", "WaybillModel", "WaybillServer", "WaybillTesting"]),
    .testTarget(
      name: "HouseTests", dependencies: ["WaybillModel", "WaybillLedger", "WaybillEngine"]),
  ],
  cLanguageStandard: .c2x
)

for target in package.targets where target.type != .system && target.name != "CSchema" {
  target.swiftSettings = house
}
