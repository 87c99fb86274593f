import Foundation

extension CommandLine {
  /// The arguments that follow the program's name, in bytes; `arguments` loses those that are not UTF-8.
  static var argumentBytes: [[UInt8]] {
    // The system ends each argument with a zero, and nobody in this program changes them.
    (1..<max(1, Int(argc))).compactMap { index in
      unsafeArgv[index].map { argument in
        Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
      }
    }
  }
}
