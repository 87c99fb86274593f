import Foundation

func printError(_ message: some CustomStringConvertible) {
  FileHandle.standardError.write(Data("\(message)\n".utf8))
}
