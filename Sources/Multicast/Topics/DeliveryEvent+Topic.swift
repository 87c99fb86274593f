extension DeliveryEvent {
  /// Whether it is of a delivery to a topic.
  package func isDelivery<Message>(to topic: Topic<Message>) -> Bool {
    guard case .topic(let name, _, let message) = subject else { return false }
    return name == topic.name && message == Message.self
  }
}
