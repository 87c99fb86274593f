#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE  // for syscall
#endif

#include "MulticastPlatform.h"

#include <string.h>
#include <time.h>

#if defined(_WIN32)
  #define WIN32_LEAN_AND_MEAN
  #include <windows.h>
  #include <io.h>
#else
  #include <unistd.h>
#endif

#if defined(__linux__)
  #include <linux/futex.h>
  #include <sys/syscall.h>
#elif defined(__FreeBSD__)
  #include <sys/types.h>
  #include <sys/umtx.h>
#endif

_Thread_local void *multicast_slot;

uint64_t multicast_awaiting_count;

// MARK: - The lock

#if !defined(__APPLE__)

// What each system has to offer: a function that lets the thread sleep if the state is 2, until another thread wakes it or
// earlier, and one that wakes a thread that sleeps at this address. The tests run only on Linux.

#if defined(__linux__)

static void sleep_if_contended(uint32_t *state) {
  syscall(SYS_futex, state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}
static void wake_one(uint32_t *state) {
  syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#elif defined(__FreeBSD__)

static void sleep_if_contended(uint32_t *state) {
  _umtx_op(state, UMTX_OP_WAIT_UINT_PRIVATE, 2, NULL, NULL);
}
static void wake_one(uint32_t *state) { _umtx_op(state, UMTX_OP_WAKE_PRIVATE, 1, NULL, NULL); }

#elif defined(_WIN32)

static void sleep_if_contended(uint32_t *state) {
  uint32_t contended = 2;
  WaitOnAddress(state, &contended, sizeof contended, INFINITE);
}
static void wake_one(uint32_t *state) { WakeByAddressSingle(state); }

#elif defined(__wasm_atomics__)

static void sleep_if_contended(uint32_t *state) {
  __builtin_wasm_memory_atomic_wait32((int *)state, 2, -1);
}
static void wake_one(uint32_t *state) { __builtin_wasm_memory_atomic_notify((int *)state, 1); }

#elif defined(__wasm__)

// There is one thread, which would wait for itself.
static void sleep_if_contended(uint32_t *state) {
  (void)state;
  __builtin_trap();
}
static void wake_one(uint32_t *state) { (void)state; }

#else
  #error "Write the two functions for this system. Linux has futexes for them."
#endif

/// The number of times that a thread looks at a lock that is held before it sleeps. Most locks of the library are held for less
/// time than that takes, and sleeping and waking takes longer.
enum { tries = 100 };

/// Lets the processor know that this thread waits in a loop, so that the other thread on its core runs faster.
static void pause_shortly(void) {
  #if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
  #elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
  #endif
}

void multicast_wait_and_acquire(multicast_lock *lock) {
  for (int i = 0; i < tries; i++) {
    uint32_t state = __atomic_load_n(&lock->state, __ATOMIC_RELAXED);
    // Other threads sleep already, so this thread sleeps, too.
    if (state == 2) break;
    if (state == 0 && __atomic_compare_exchange_n(
          &lock->state, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    pause_shortly();
  }
  // This thread does not know whether other threads sleep. So it acquires the lock with a 2, which makes its release wake one
  // of them. If there is none, the release makes a system call in vain. A 1 might let a thread sleep forever.
  while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE) != 0)
    sleep_if_contended(&lock->state);
}

// The lock was released before this is called, so its memory may be freed by now: another thread may have acquired the lock and
// then freed it. That is safe, because the system only compares the address. It finds no thread that waits there, or it wakes a
// thread that waits for something else at this address. A thread that wakes looks at its lock again.
void multicast_wake(multicast_lock *lock) { wake_one(&lock->state); }

#endif

// MARK: - Dispatch

#if !defined(__wasi__)

// Declared here and not in the header, because the type of the queue is another one in Objective-C.
extern void dispatch_queue_set_specific(
  void *queue, const void *key, void *value, void (*destructor)(void *));

void multicast_set_specific(uintptr_t queue, uintptr_t key, uintptr_t value) {
  dispatch_queue_set_specific((void *)queue, (const void *)key, (void *)value, NULL);
}

#endif

// MARK: - The C library

uint64_t multicast_now(void) {
  #if defined(_WIN32)  // not tested
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    uint64_t count = (uint64_t)ticks.QuadPart, second = (uint64_t)frequency.QuadPart;
    return count / second * 1000000000 + count % second * 1000000000 / second;
  #elif defined(__APPLE__)
    // CLOCK_MONOTONIC is the wall clock less a constant there, in microseconds, and may step backwards.
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
  #else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
  #endif
}

#if defined(__ANDROID__)
extern int __android_log_write(int priority, const char *tag, const char *text);
#endif

void multicast_write_error(const char *text) {
  #if defined(__ANDROID__)
    // The system drops the standard error of an app. A program that a shell has started has no use for the log.
    __android_log_write(/* ANDROID_LOG_WARN */ 5, "Multicast", text);
  #endif
  #if defined(_WIN32)  // not tested
    (void)_write(2, text, (unsigned)strlen(text));
  #else
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
  #endif
}
