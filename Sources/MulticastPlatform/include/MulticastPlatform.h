// What cannot be written in Swift, or only for recent systems: a thread-local pointer, atomics, a lock, and functions of the
// runtime and the C library that have no Swift interface. MulticastPlatform.c contains the functions that are too long for a
// header.
//
// A function that is called often is inline, so that the Swift compiler inlines it, too, and the thread sanitizer sees what it
// does.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__APPLE__)
  #include <os/lock.h>
#endif

// With C++ interoperability, Swift reads this as C++, which would give the functions other names than their C definitions have.
#if defined(__cplusplus)
extern "C" {
#endif

#define MULTICAST_INLINE static inline __attribute__((always_inline))

// MARK: The thread's slot
//
// A pointer for each thread. It points to the innermost delivery that is active on the thread, or is null: see
// DeliveryChain.swift. The pointer is how a `notify` finds the deliveries that it is nested in, without a lock and without an
// allocation. Swift itself has no thread-local variables, and `pthread_getspecific` would cost each delivery a function call.

extern _Thread_local void *_Nullable multicast_slot;

/// Returns the address of the current thread's own pointer. The address is constant while the thread lives. The pointer is
/// initially null.
///
/// Do not keep the address across an `await`, because a task may continue on another thread.
MULTICAST_INLINE void *_Nullable *_Nonnull multicast_thread_slot(void) { return &multicast_slot; }

// MARK: Awaited calls
//
// The count is a variable of C, because each use of a global variable of Swift checks whether it has been initialized. The
// ordering is relaxed, because only a task that is part of an awaited call needs to see that call counted, and such a task has
// seen it begin.

extern uint64_t multicast_awaiting_count;

/// Whether any call in the process is being awaited. If none is, no delivery has to read a task-local value.
MULTICAST_INLINE bool multicast_awaits_anywhere(void) {
  return __atomic_load_n(&multicast_awaiting_count, __ATOMIC_RELAXED) != 0;
}

/// Adds to the number of calls that are being awaited.
MULTICAST_INLINE void multicast_count_awaiting(int64_t change) {
  __atomic_fetch_add(&multicast_awaiting_count, (uint64_t)change, __ATOMIC_RELAXED);
}

// MARK: The runtime
//
// Functions of Swift's runtime that answer a question. The Swift interfaces stop the program if the answer is no, or take
// longer.

/// The function of Swift's runtime that returns whether this thread runs in an executor. It is missing from the runtimes of
/// Apple's systems before macOS 26 and its relatives, so the reference is weak there: the address is null if the function is
/// missing. Unlike a search with `dlsym`, a weak reference works in static programs, too. On other systems, the runtime comes
/// with the compiler.
#if defined(__APPLE__)
__attribute__((weak))
#endif
extern bool swift_task_isCurrentExecutorWithFlags(
  uintptr_t identity, uintptr_t implementation, uint64_t flags) __attribute__((swiftcall));

/// Whether the runtime contains the function that `multicast_is_current_executor` calls.
MULTICAST_INLINE bool multicast_knows_current_executor(void) {
  #if defined(__APPLE__)
    return swift_task_isCurrentExecutorWithFlags != NULL;
  #else
    return true;
  #endif
}

/// Whether this thread runs in an executor, given as the two words of a reference to it. Call this only if
/// `multicast_knows_current_executor` returns true. Flags of 0 ask the runtime for an answer and not for an assertion.
MULTICAST_INLINE bool multicast_is_current_executor(uintptr_t identity, uintptr_t implementation) {
  return swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}

/// A reference to an executor.
typedef struct { uintptr_t identity, implementation; } multicast_executor;

/// The function of Swift's runtime that returns the executor in which this thread runs.
#if defined(__APPLE__)
__attribute__((weak))
#endif
extern multicast_executor swift_task_getCurrentExecutor(void) __attribute__((swiftcall));

/// Returns the first word of the reference to the executor in which this thread runs: the address of its actor, or of a custom
/// executor. Returns 0 outside all of them, or if the runtime cannot answer.
MULTICAST_INLINE uintptr_t multicast_current_executor(void) {
  #if defined(__APPLE__)
    if (swift_task_getCurrentExecutor == NULL) return 0;
  #endif
  return swift_task_getCurrentExecutor().identity;
}

/// The function behind `TaskLocal.get()`, which each program that reads a task-local value calls. The key is the address of
/// the `TaskLocal` object.
extern const void *_Nullable swift_task_localValueGet(const void *_Nonnull key) __attribute__((swiftcall));

/// Returns the address at which the current task, or the task whose child it is, stores a task-local value; null if it stores
/// none.
MULTICAST_INLINE const void *_Nullable multicast_task_local(const void *_Nonnull key) {
  return swift_task_localValueGet(key);
}

// MARK: Dispatch
//
// Functions of Dispatch. The generic functions of its Swift module look up types in each call.

extern void *_Nullable dispatch_get_specific(const void *_Nonnull key);

/// Stores a value in a queue.
void multicast_set_specific(uintptr_t queue, uintptr_t key, uintptr_t value);

/// Marks a queue, by a value under its own address.
///
/// @param queue The address of a queue that is not a global one.
MULTICAST_INLINE void multicast_mark_queue(uintptr_t queue) {
  multicast_set_specific(queue, queue, queue);
}

/// Whether a marked queue is the current one, or one that it targets.
MULTICAST_INLINE bool multicast_is_on_queue(uintptr_t queue) {
  return dispatch_get_specific((const void *)queue) != NULL;
}

// MARK: Atomics
//
// The atomics of Swift's standard library need macOS 15 and its relatives. All values are words of 64 bits. The orders are
// those of Atomic.swift. They are constants after inlining, so each call becomes one instruction or a few.

_Static_assert(
  __ATOMIC_RELAXED == 0 && __ATOMIC_ACQUIRE == 2 && __ATOMIC_RELEASE == 3 && __ATOMIC_ACQ_REL == 4
    && __ATOMIC_SEQ_CST == 5, "Atomic.swift contains these numbers");

MULTICAST_INLINE uint64_t multicast_load(const uint64_t *_Nonnull word, int order) {
  return __atomic_load_n(word, order);
}

MULTICAST_INLINE void multicast_store(uint64_t *_Nonnull word, uint64_t value, int order) {
  __atomic_store_n(word, value, order);
}

/// Stores a value. Returns the old value, as the next two functions do.
MULTICAST_INLINE uint64_t multicast_exchange(uint64_t *_Nonnull word, uint64_t value, int order) {
  return __atomic_exchange_n(word, value, order);
}

MULTICAST_INLINE uint64_t multicast_add(uint64_t *_Nonnull word, uint64_t value, int order) {
  return __atomic_fetch_add(word, value, order);
}

/// Stores a value if the old one is the expected one. If it is not, the ordering is that of an acquiring load.
MULTICAST_INLINE uint64_t multicast_compare_exchange(
  uint64_t *_Nonnull word, uint64_t expected, uint64_t desired, int order
) {
  __atomic_compare_exchange_n(word, &expected, desired, false, order, __ATOMIC_ACQUIRE);
  return expected;
}

// MARK: The lock
//
// The lock of Swift's standard library needs macOS 15 and its relatives, and the thread sanitizer does not see it on Linux. A
// lock whose bytes are 0 is free, so it needs no initialization. Its address must not change.

#if defined(__APPLE__)

typedef struct { os_unfair_lock lock; } multicast_lock;

MULTICAST_INLINE void multicast_acquire(multicast_lock *_Nonnull lock) {
  os_unfair_lock_lock(&lock->lock);
}

MULTICAST_INLINE void multicast_release(multicast_lock *_Nonnull lock) {
  os_unfair_lock_unlock(&lock->lock);
}

#else

/// 0: free. 1: held. 2: held, and other threads may sleep until it is released. A pthread mutex is ten times as large on Linux,
/// and contains pointers on some systems, which are unsafe in Swift.
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

#endif

// MARK: The C library
//
// The module of the C library has another name on each system, and so do some of its functions. C code is the same on all of
// them.

/// Returns the nanoseconds since some moment in the past, which is another one each time the system starts. The clocks of
/// Swift's standard library need macOS 13 and its relatives.
uint64_t multicast_now(void);

/// Writes text to standard error with one system call, so that the lines of several threads do not mix unless the system splits
/// a long one, and on Android to the system's log, too. It ignores failures, because there is nothing left to report them with.
void multicast_write_error(const char *_Nonnull text);

#if defined(__cplusplus)
}
#endif
