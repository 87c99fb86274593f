import Multicast

protocol DownloadDelegate {
  func downloadDidFinish(_ download: Download)
}

// the example
