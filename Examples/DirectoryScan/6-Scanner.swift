import Foundation
import Multicast

/// Scans a folder and announces what it finds. It knows the center and no listener. It reads in
/// parallel tasks, outside the listeners' actor.
@ScanActor struct Scanner {
  let center: MulticastCenter

  /// Returns when everything is scanned or the task is cancelled.
  func scan(_ root: Path) async {
    // With a slash at its end, a path follows a link.
    let root = root.withoutSlashesAtEnd.appending("")
    announce([{ $0.foundFolder(root) }])
    await inParallel([Folder(path: root, above: foldersAbove(root))]) { await read($0) }
    if Task.isCancelled { return }
    let groups = center.map(ScanListener.self) { $0.filesToCompare() }.flatMap(\.self)
    let bytes = groups.joined().reduce(into: 0) { $0.add($1.bytes) }
    center.notify(ScanListener.self) { $0.willCompare(bytes: bytes) }
    await inParallel(groups.map { Comparison(files: $0) }) { await compare($0) }
  }

  /// Calls the first listener with all events, then the next one.
  private func announce(_ events: [ScanEvent]) {
    center.notify(ScanListener.self, forEach: events) { listener, event in event(listener) }
  }

  /// Runs each piece of work in a task. Its result is further work.
  private func inParallel<Piece: Sendable>(
    _ pieces: [Piece], work: @escaping @Sendable (Piece) async -> [Piece]
  ) async {
    await withTaskGroup(of: [Piece].self) { group in
      var waiting = pieces
      var free = 2 * ProcessInfo.processInfo.activeProcessorCount
      while true {
        while free > 0, !Task.isCancelled, let piece = waiting.popLast() {
          group.addTask { await work(piece) }
          free -= 1
        }
        guard let left = await group.next() else { return }
        waiting += left
        free += 1
      }
    }
  }
}

/// A folder and the folders that contain it. A link to one of them is a cycle.
private struct Folder: Sendable {
  let path: Path
  let above: [FileID]
}

extension Scanner {
  /// Reads a folder and returns its subfolders.
  @concurrent private func read(_ folder: Folder) async -> [Folder] {
    var events: [ScanEvent] = []
    var subfolders: [Folder] = []
    do throws(SystemError) {
      let descriptor = try folder.path.open(O_DIRECTORY | O_NOFOLLOW)
      guard let stream = fdopendir(descriptor) else { throw SystemError() }
      defer { closedir(stream) }
      let inside = folder.above + [try stat(of: ".", in: descriptor).id]
      while !Task.isCancelled {
        // Distinguishes an error from the end.
        errno = 0
        let entry = readdir(stream)
        if entry == nil, errno != 0 { throw SystemError() }
        guard let name = entry.map(Path.init(nameIn:)) else { break }
        if name == "." || name == ".." { continue }
        let path = folder.path.appending(name)
        do throws(SystemError) {
          let status = try stat(of: name, in: descriptor)
          switch status.kind {
          case S_IFREG:
            let file = File(path: path, bytes: Int(status.st_size), id: status.id)
            events.append { $0.found(file) }
          case S_IFDIR:
            events.append { $0.foundFolder(path) }
            subfolders.append(Folder(path: path, above: inside))
          case S_IFLNK:
            events.append { $0.foundLink(path) }
            if let problem = problem(with: name, in: descriptor, path, inside) {
              events.append { $0.met(problem) }
            }
          default:
            events.append { $0.foundSpecial(path) }
          }
        } catch {
          events.append { $0.met(Problem(path, error)) }
        }
        if events.count >= 1000 {
          await announce(events)
          events = []
        }
      }
    } catch {
      events.append { $0.met(Problem(folder.path, error)) }
    }
    events.append { $0.finishedFolder(folder.path) }
    await announce(events)
    return subfolders
  }

  /// The problem of a link; nil if the link is fine.
  nonisolated private func problem(
    with link: Path, in folder: Int32, _ path: Path, _ inside: [FileID]
  ) -> Problem? {
    var kind = Problem.Kind.linkCycle
    do throws(SystemError) {
      let target = try stat(of: link, in: folder, following: true)
      if !inside.contains(target.id) { return nil }
    } catch {
      switch error.code {
      case ELOOP: break
      case ENOENT, ENOTDIR: kind = .brokenLink
      default: return Problem(path: path, kind: .unreadable, reason: error.description)
      }
    }
    return Problem(path: path, kind: kind, target: link.target(in: folder))
  }

  /// The folders that contain a folder, up to the root, which contains itself.
  private func foldersAbove(_ path: Path) -> [FileID] {
    var above: [FileID] = []
    var path = path.appending("..")
    while let id = try? stat(of: path).id, id != above.last {
      above.append(id)
      path = path.appending("..")
    }
    return above
  }
}

/// Files of equal size, equal up to `offset`.
private struct Comparison: Sendable {
  let files: [File]
  var offset = 0
}

extension Scanner {
  /// Reads one slice of each file, and returns the groups that are still equal.
  @concurrent private func compare(_ comparison: Comparison) async -> [Comparison] {
    let (files, offset) = (comparison.files, comparison.offset)
    let bytesLeft = files[0].bytes - offset
    // The slices of all files must fit in memory.
    let length = min(bytesLeft, 1 << 20, max(512, (64 << 20) / files.count))
    var filesBySlice: [Slice: [File]] = [:]
    for file in files {
      if Task.isCancelled { return [] }
      do throws(SystemError) {
        // A file that has changed equals no other one, and is no problem.
        guard let slice = try Slice(of: file, at: offset, length) else { continue }
        filesBySlice[slice, default: []].append(file)
      } catch {
        await announce([{ $0.met(Problem(file.path, error)) }])
      }
    }
    let equal = filesBySlice.values.filter { $0.count > 1 }
    let equalCount = equal.joined().count
    var bytes = equalCount * length
    // The rest of unequal files need not be read.
    for _ in equalCount..<files.count { bytes.add(bytesLeft) }
    let isEnd = length == bytesLeft
    await announce([{ [bytes] in $0.compared(bytes: bytes) }])
    if isEnd { await announce(equal.map { files in { $0.foundEqual(files) } }) }
    return isEnd ? [] : equal.map { Comparison(files: $0, offset: offset + length) }
  }
}
