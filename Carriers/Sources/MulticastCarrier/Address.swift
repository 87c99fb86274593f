/// An address as it may be logged: without a user and a password.
package func withoutCredentials(_ url: String) -> String {
  guard let end = url.lastIndex(of: "@") else { return url }
  let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
  return scheme + "…" + url[end...]
}
