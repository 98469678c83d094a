#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

@main
struct Main {
  static func main() async {
    Descriptor.reserveStandardNumbers()
    // A closed pipe is then seen as an error of write, which ends the program quietly.
    signal(SIGPIPE, SIG_IGN)
    exit(await Program().run(RawArgument.ofProcess()).rawValue)
  }
}
