/// Why a file cannot be compared.
struct ContentError: Error {
  let file: File

  /// What the system says; nil if the file is not what it was when it was found, or if its size is not
  /// the length of its content, as with files that the system makes up, in `/proc` and `/sys`.
  let cause: SystemError?

  /// What there is to report. A file that changes while it is scanned is none.
  var problem: Problem? { cause.map { Problem(file.path, $0) } }
}
