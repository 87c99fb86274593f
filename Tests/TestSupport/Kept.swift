/// Keeps an object, or several, to the end of the process: a release build may end them after their last use.
package func kept<Objects>(_ objects: Objects) -> Objects {
  _ = Unmanaged.passRetained(objects as AnyObject)
  return objects
}
