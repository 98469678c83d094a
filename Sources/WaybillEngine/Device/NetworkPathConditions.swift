#if canImport(Darwin)
  internal import Dispatch
  internal import Foundation
  internal import Network
  internal import WaybillModel

  extension ConditionsProvider {
    /// What the system says of the network path, Low Data Mode and Low Power Mode. Of the charger
    /// it tells a screen only: an app that has a rule about it reports by `ReportedConditions`.
    public static var system: ConditionsProvider {
      ConditionsProvider {
        let (stream, listener) = AsyncStream.makeStream(
          of: DeviceConditions.self, bufferingPolicy: .bufferingNewest(1))
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { @Sendable path in listener.yield(DeviceConditions(path)) }
        let saving = Task {
          let changes = NotificationCenter.default.notifications(
            named: .NSProcessInfoPowerStateDidChange)
          for await _ in changes { listener.yield(DeviceConditions(monitor.currentPath)) }
        }
        listener.onTermination = { @Sendable _ in
          saving.cancel()
          monitor.cancel()
        }
        monitor.start(queue: DispatchQueue(label: "waybill.network-path"))
        return stream
      }
    }
  }

  extension DeviceConditions {
    fileprivate init(_ path: NWPath) {
      self.init(
        link: Link(path), isMetered: path.isExpensive, isLowData: path.isConstrained,
        isBatterySaver: ProcessInfo.processInfo.isLowPowerModeEnabled)
    }
  }

  extension DeviceConditions.Link {
    fileprivate init(_ path: NWPath) {
      if path.status != .satisfied {
        self = .none
      } else if path.usesInterfaceType(.wifi) {
        self = .wifi
      } else if path.usesInterfaceType(.cellular) {
        self = .cellular
      } else if path.usesInterfaceType(.wiredEthernet) {
        self = .wired
      } else {
        self = .other
      }
    }
  }
#endif
