#if os(Linux)
  internal import Dispatch
  internal import WaybillModel
  internal import WaybillSystem

  extension ConditionsProvider {
    /// What this machine says: the kernel of routes, links and power, and NetworkManager, where it
    /// runs, of whether the connection is metered.
    public static var system: ConditionsProvider { watching(DeviceFiles()) }

    /// Watches a machine, or the files of a made-up one.
    ///
    /// - Parameters:
    ///   - files: what the kernel says.
    ///   - question: the command that asks NetworkManager whether the connection is metered.
    package static func watching(
      _ files: DeviceFiles, asking question: [String] = DeviceWatch.question
    ) -> ConditionsProvider {
      ConditionsProvider {
        let (stream, listener) = AsyncStream.makeStream(
          of: DeviceConditions.self, bufferingPolicy: .bufferingNewest(1))
        let watch = DeviceWatch(files, question, listener)
        listener.onTermination = { _ in watch.end() }
        watch.begin()
        return stream
      }
    }
  }

  /// Looks at the machine when the kernel says that something may have changed, and every half
  /// minute anyway: neither the metered flag nor the power saver has a bell.
  package final class DeviceWatch: Sendable {
    /// `busctl` comes with systemd and speaks D-Bus for us, in numbers that no locale changes. It
    /// starts no NetworkManager where none runs.
    package static let question = [
      "/usr/bin/busctl", "--system", "--auto-start=no", "--timeout=2", "get-property",
      "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
      "org.freedesktop.NetworkManager", "Metered",
    ]

    /// How soon a change is looked at, how long after it once more, since NetworkManager decides
    /// what a connection is after the kernel has it, and how often without any; in milliseconds.
    private static let (soon, settled, regular) = (100, 2_000, 30_000)
    /// The least time between two looks, in milliseconds, however often the kernel rings.
    private static let pace = 1_000
    /// How long the question may take, in milliseconds.
    private static let patience: Int64 = 2_500

    private struct State {
      var last: DeviceConditions?
      var lookedAt = DispatchTime(uptimeNanoseconds: 0)
      /// When the next look is due, the regular one aside.
      var due: DispatchTime?
      var hasEnded = false
      var hearing: Task<Void, Never>?
    }

    private let files: DeviceFiles
    private let question: [String]
    private let listener: AsyncStream<DeviceConditions>.Continuation
    private let queue = DispatchQueue(label: "waybill.device", qos: .utility)
    private let state = Locked(State())

    init(
      _ files: DeviceFiles, _ question: [String],
      _ listener: AsyncStream<DeviceConditions>.Continuation
    ) {
      self.files = files
      self.question = question
      self.listener = listener
    }

    func begin() {
      // It listens before it looks, so that no change falls between the two.
      let changes = DeviceChanges()
      queue.async { @Sendable [self] in look() }
      repeatLook()
      let hearing = Task { [weak self] in
        for await _ in changes.signals { self?.lookSoon() }
      }
      state.withLock { $0.hearing = hearing }
    }

    func end() {
      state.withLock { state in
        state.hasEnded = true
        state.hearing?.cancel()
      }
    }

    private func repeatLook() {
      queue.asyncAfter(deadline: .now() + .milliseconds(DeviceWatch.regular)) {
        @Sendable [weak self] in
        guard let self, !self.state.withLock({ $0.hasEnded }) else { return }
        self.look()
        self.repeatLook()
      }
    }

    /// Looks a moment later and again when things have settled; what is due already is enough.
    private func lookSoon() {
      let due = state.withLock { state -> DispatchTime? in
        let now = DispatchTime.now()
        if let due = state.due, due > now { return nil }
        let due = max(
          now + .milliseconds(DeviceWatch.soon),
          state.lookedAt + .milliseconds(DeviceWatch.pace))
        state.due = due
        return due
      }
      guard let due else { return }
      for moment in [due, due + .milliseconds(DeviceWatch.settled)] {
        queue.asyncAfter(deadline: moment) { @Sendable [weak self] in self?.look() }
      }
    }

    private func look() {
      guard !state.withLock({ $0.hasEnded }) else { return }
      var conditions = files.conditions
      conditions.isMetered = isMetered
      let isNews = state.withLock { state in
        state.lookedAt = .now()
        defer { state.last = conditions }
        return state.last != conditions
      }
      if isNews { listener.yield(conditions) }
    }

    /// `u 1` is yes and `u 3` a guess of yes, `u 2` and `u 4` are no, and `u 0` is not known: so
    /// NetworkManager numbers them (NMMetered).
    private var isMetered: Bool? {
      guard files.exists("/run/NetworkManager"),
        let answer = ProgramAnswer.read(question, milliseconds: DeviceWatch.patience)
      else { return nil }
      switch String(decoding: answer, as: UTF8.self) {
      case "u 1\n", "u 3\n": return true
      case "u 2\n", "u 4\n": return false
      default: return nil
      }
    }
  }
#endif
