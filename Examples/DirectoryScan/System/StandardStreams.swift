import Foundation

/// Standard input, output and error, as whoever started the program has left them.
enum StandardStreams {
  /// Sees to it that a stream which is closed or no longer read is a matter of the write to it alone.
  ///
  /// To be called before anything is opened.
  static func prepare() {
    // Whatever is opened takes the lowest number that is free. In place of a closed stream it would get
    // what is written to that, so something that cannot be written to takes the place.
    var number = open("/dev/null", O_RDONLY)
    while (0...STDERR_FILENO).contains(number) { number = open("/dev/null", O_RDONLY) }
    close(number)
    // A pipe that nobody reads any more would end the program.
    signal(SIGPIPE, SIG_IGN)
  }
}
