#if os(Linux)
  import Glibc
  import Testing

  @testable import waybill

  /// A terminal without a window: what is written to `child` can be read back.
  final class PseudoTerminal {
    let child: Descriptor
    private let parent: Int32

    init(width: UInt16, height: UInt16) throws {
      // glibc shows posix_openpt only to X/Open programs; these are the calls it makes.
      parent = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var unlocked: Int32 = 0
      var number: UInt32 = 0
      try #require(ioctl(parent, 0x4004_5431, &unlocked) == 0)  // TIOCSPTLCK
      try #require(ioctl(parent, 0x8004_5430, &number) == 0)  // TIOCGPTN
      let name = "/dev/pts/\(number)"
      let opened = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(opened >= 0)
      child = Descriptor(number: opened)
      var size = winsize(ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0)
      try #require(ioctl(opened, UInt(TIOCSWINSZ), &size) == 0)
      var modes = termios()
      tcgetattr(opened, &modes)
      modes.c_oflag &= ~tcflag_t(OPOST)
      tcsetattr(opened, TCSANOW, &modes)
    }

    deinit {
      close(child.number)
      close(parent)
    }

    /// Types as a person does.
    func type(_ text: String) { _ = write(parent, text, text.utf8.count) }

    /// Waits until what was written holds `text`, and gives all of it; the end of the program
    /// that has the other side open ends it too.
    func readUntil(_ text: String) -> String {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while read(parent, &byte, 1) == 1 {
        bytes.append(byte)
        if String(decoding: bytes, as: UTF8.self).hasSuffix(text) { break }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Everything written so far; what a test writes stays below the kernel's buffer.
    func readWritten() -> String {
      _ = fcntl(parent, F_SETFL, O_NONBLOCK)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(parent, &buffer, buffer.count)
        guard count > 0 else { break }
        bytes += buffer.prefix(count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
