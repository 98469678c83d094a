internal import Dispatch
internal import WaybillSystem

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Takes note of the end of a child process the moment it comes.
///
/// A child that has ended and that nobody has waited for yet makes the part of Swift Testing that
/// watches exit tests look at it again and again, which takes a whole processor from all the other
/// tests until somebody does.
public final class Reaper: Sendable {
  private let status = Locked<Int32>(0)
  private let end = DispatchGroup()

  /// Begins to wait for a child of this process; nobody else may.
  public init(_ child: Int32) {
    end.enter()
    DispatchQueue(label: "waybill.testing.reaper").async { [status, end] in
      var raw: Int32 = 0
      while waitpid(child, &raw, 0) < 0 {
        precondition(errno == EINTR, "somebody else has waited for the child")
      }
      status.withLock { [raw] in $0 = raw }
      end.leave()
    }
  }

  /// Waits for the end.
  ///
  /// - Returns: the exit code, or the number of the signal with a minus.
  public func wait() -> Int32 {
    end.wait()
    let raw = status.withLock { $0 }
    return raw & 0x7f == 0 ? raw >> 8 & 0xff : -(raw & 0x7f)
  }
}
