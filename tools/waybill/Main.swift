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
    let code = await Program().run(RawArgument.ofProcess())
    // Everything is written by now. `exit` would let libraries free what they hold globally while
    // a thread that just lost its work, such as the transport's, still frees its share of it.
    _exit(code.rawValue)
  }
}
