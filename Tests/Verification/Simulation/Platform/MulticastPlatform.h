// The library's platform with simulated atomics and locks. The renamed functions are those of the real header.

#pragma once

#define multicast_load real_load
#define multicast_store real_store
#define multicast_exchange real_exchange
#define multicast_add real_add
#define multicast_compare_exchange real_compare_exchange
#define multicast_acquire real_acquire
#define multicast_release real_release
#define multicast_mark_queue real_mark_queue
#define multicast_is_on_queue real_is_on_queue
#include "../../../../Sources/MulticastPlatform/include/MulticastPlatform.h"
#undef multicast_load
#undef multicast_store
#undef multicast_exchange
#undef multicast_add
#undef multicast_compare_exchange
#undef multicast_acquire
#undef multicast_release
#undef multicast_mark_queue
#undef multicast_is_on_queue

uint64_t multicast_load(const uint64_t *_Nonnull word, int order);
void multicast_store(uint64_t *_Nonnull word, uint64_t value, int order);
uint64_t multicast_exchange(uint64_t *_Nonnull word, uint64_t value, int order);
uint64_t multicast_add(uint64_t *_Nonnull word, uint64_t value, int order);
uint64_t multicast_compare_exchange(
  uint64_t *_Nonnull word, uint64_t expected, uint64_t desired, int order);
void multicast_acquire(multicast_lock *_Nonnull lock);
void multicast_release(multicast_lock *_Nonnull lock);
void multicast_mark_queue(uintptr_t queue);
bool multicast_is_on_queue(uintptr_t queue);
