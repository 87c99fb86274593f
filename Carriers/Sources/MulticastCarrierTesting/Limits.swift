import MulticastCarrier

extension Carriage.Limits {
  /// Limits of a test in which nothing shall be given up, however slow the machine is.
  package static var patient: Self {
    var limits = Self()
    limits.keptTime = .minutes(60)
    limits.repairTime = .minutes(60)
    limits.waitingBytes = 1 << 30
    limits.waitingMessages = 1 << 24
    return limits
  }
}
