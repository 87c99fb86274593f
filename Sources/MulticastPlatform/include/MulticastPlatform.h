// What Swift cannot say, or says only on recent systems. The other part is in MulticastPlatform.c.
//
// A function that is called often is inline, so that the Swift compiler inlines it, too, and the thread
// sanitizer sees what it does.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__APPLE__)
  #include <os/lock.h>
#elif !defined(__linux__) && !defined(_WIN32)
  #include <pthread.h>
#endif

// With C++ interoperability, Swift reads this as C++, which would give the functions other names than their C definitions have.
#if defined(__cplusplus)
extern "C" {
#endif

#define MULTICAST_INLINE static inline __attribute__((always_inline))

// MARK: The thread's slot
//
// Swift has no thread-local variables.

extern _Thread_local void *_Nullable multicast_slot;

/// The address of a pointer that the current thread has for itself, initially null. It is constant while the
/// thread lives.
MULTICAST_INLINE void *_Nullable *_Nonnull multicast_thread_slot(void) { return &multicast_slot; }

// MARK: Awaited calls
//
// Counted here, because each use of a variable of Swift asks whether it has been made. Relaxed: a task that is part of a
// call has seen it begin.

extern uint64_t multicast_awaiting_count;

/// Whether any call in the process is being awaited. While none is, no thread pays for reading a task-local value.
MULTICAST_INLINE bool multicast_is_awaiting(void) {
  return __atomic_load_n(&multicast_awaiting_count, __ATOMIC_RELAXED) != 0;
}

MULTICAST_INLINE void multicast_count_awaiting(int64_t change) {
  __atomic_fetch_add(&multicast_awaiting_count, (uint64_t)change, __ATOMIC_RELAXED);
}

// MARK: The runtime
//
// The concurrency library has only functions that stop the program if the answer is no.

/// The function of Swift's runtime, in a process that may be linked with an older one: before macOS 26 and
/// its relatives. A weak reference works in static programs, too. On other systems the runtime comes with the
/// compiler.
#if !defined(_WIN32)
__attribute__((weak))
#endif
extern bool swift_task_isCurrentExecutorWithFlags(
  uintptr_t identity, uintptr_t implementation, uint64_t flags) __attribute__((swiftcall));

/// Whether the runtime has the function of ``multicast_is_current_executor``.
MULTICAST_INLINE bool multicast_knows_current_executor(void) {
  return swift_task_isCurrentExecutorWithFlags != NULL;
}

/// Whether this thread runs in an executor, given as the two words of its reference. Flags of 0 ask for an
/// answer and not for an assertion.
MULTICAST_INLINE bool multicast_is_current_executor(uintptr_t identity, uintptr_t implementation) {
  return swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}

/// The function behind `TaskLocal.get()`, which each program that reads a task-local value calls. The key is the address of
/// the `TaskLocal` object.
extern const void *_Nullable swift_task_localValueGet(const void *_Nonnull key) __attribute__((swiftcall));

/// Where the current task stores a task-local value, or the task that it is a child of; null without a value.
MULTICAST_INLINE const void *_Nullable multicast_task_local(const void *_Nonnull key) {
  return swift_task_localValueGet(key);
}

/// Dispatch's function. The one of its Swift module looks up its types.
extern void *_Nullable dispatch_get_specific(const void *_Nonnull key);

/// Whether the current queue, or one that it targets, has a value under a key.
MULTICAST_INLINE bool multicast_has_specific(const void *_Nonnull key) {
  return dispatch_get_specific(key) != NULL;
}

// MARK: Atomics
//
// The standard library's need macOS 15 and its relatives. All values are words of 64 bits. Orders are those of
// Atomic.swift, constants that the optimizer sees.

_Static_assert(
  __ATOMIC_RELAXED == 0 && __ATOMIC_ACQUIRE == 2 && __ATOMIC_RELEASE == 3 && __ATOMIC_ACQ_REL == 4
    && __ATOMIC_SEQ_CST == 5, "Atomic.swift has these numbers");

MULTICAST_INLINE uint64_t multicast_load(const uint64_t *_Nonnull word, int order) {
  return __atomic_load_n(word, order);
}

MULTICAST_INLINE void multicast_store(uint64_t *_Nonnull word, uint64_t value, int order) {
  __atomic_store_n(word, value, order);
}

/// Returns the old value, as all of the following do.
MULTICAST_INLINE uint64_t multicast_exchange(uint64_t *_Nonnull word, uint64_t value, int order) {
  return __atomic_exchange_n(word, value, order);
}

MULTICAST_INLINE uint64_t multicast_add(uint64_t *_Nonnull word, uint64_t value, int order) {
  return __atomic_fetch_add(word, value, order);
}

/// Has acquired if it fails.
MULTICAST_INLINE uint64_t multicast_compare_exchange(
  uint64_t *_Nonnull word, uint64_t expected, uint64_t desired, int order
) {
  __atomic_compare_exchange_n(word, &expected, desired, false, order, __ATOMIC_ACQUIRE);
  return expected;
}

// MARK: The lock
//
// The standard library's needs macOS 15 and its relatives, and the thread sanitizer does not see it on Linux.
// A lock of zeros is free. Its address must not change.

#if defined(__APPLE__)

typedef struct { os_unfair_lock lock; } multicast_lock;

MULTICAST_INLINE void multicast_acquire(multicast_lock *_Nonnull lock) {
  os_unfair_lock_lock(&lock->lock);
}

MULTICAST_INLINE void multicast_release(multicast_lock *_Nonnull lock) {
  os_unfair_lock_unlock(&lock->lock);
}

#elif defined(__linux__)

/// 0: free, 1: held, 2: held and perhaps awaited. A pthread mutex has ten times the size.
typedef struct { uint32_t state; } multicast_lock;

void multicast_wait_and_acquire(multicast_lock *_Nonnull lock);
void multicast_wake(multicast_lock *_Nonnull lock);

MULTICAST_INLINE void multicast_acquire(multicast_lock *_Nonnull lock) {
  uint32_t free = 0;
  if (!__atomic_compare_exchange_n(
        &lock->state, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    multicast_wait_and_acquire(lock);
}

MULTICAST_INLINE void multicast_release(multicast_lock *_Nonnull lock) {
  if (__atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2) multicast_wake(lock);
}

#elif defined(_WIN32)  // not tested

/// A slim reader/writer lock, which is a pointer.
typedef struct { void *_Nullable lock; } multicast_lock;

void multicast_acquire(multicast_lock *_Nonnull lock);
void multicast_release(multicast_lock *_Nonnull lock);

#else  // not tested

typedef struct { pthread_mutex_t lock; } multicast_lock;

MULTICAST_INLINE void multicast_acquire(multicast_lock *_Nonnull lock) {
  pthread_mutex_lock(&lock->lock);
}

MULTICAST_INLINE void multicast_release(multicast_lock *_Nonnull lock) {
  pthread_mutex_unlock(&lock->lock);
}

#endif

// MARK: The C library
//
// Its module has another name on each system, and some functions, too.

/// Nanoseconds since some moment in the past, which differs from start to start of the system. They never
/// decrease. The standard library's clocks need macOS 13 and its relatives.
uint64_t multicast_now(void);

/// Writes to standard error in one piece, so the lines of several threads do not mix. A failure cannot be
/// reported anywhere.
void multicast_write_error(const void *_Nullable bytes, size_t count);

#if defined(__cplusplus)
}
#endif
