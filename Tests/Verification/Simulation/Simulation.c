// The scheduler and the memory of the simulation: see README.md.
//
// Threads are real, and one at a time has the baton. Before each access to an atomic or a lock, the seed decides whether another
// thread gets it.
//
// An atomic has a short history of stores. A load may return an older store than the last one, unless the thread knows a newer one:
// its own, one that happened before, or one that a read that happened before has seen. Each thread has a clock that says what
// happened before. A sequentially consistent load sees the last sequentially consistent store or a newer one. A read-modify-write
// always reads the last store.

#define _GNU_SOURCE
#include "Platform/Simulation.h"
#include "Platform/MulticastPlatform.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 64, history = 4, cells = 1 << 14, longest = 50000, no_thread = -1 };

typedef struct { uint32_t at[threads]; } moment;

static void join(moment *one, const moment *other) {
  for (int i = 0; i < threads; i++)
    if (one->at[i] < other->at[i]) one->at[i] = other->at[i];
}

// MARK: The thread sanitizer

// A build with the thread sanitizer tells it what orderings and locks say about plain memory, and nothing about the baton.
extern void __tsan_acquire(const void *place) __attribute__((weak));
extern void __tsan_release(const void *place) __attribute__((weak));
extern void __tsan_ignore_thread_begin(void) __attribute__((weak));
extern void __tsan_ignore_thread_end(void) __attribute__((weak));

static void acquired(const void *place) { if (__tsan_acquire) __tsan_acquire(place); }
static void released(const void *place) { if (__tsan_release) __tsan_release(place); }
static void enter(void) { if (__tsan_ignore_thread_begin) __tsan_ignore_thread_begin(); }
static void leave(void) { if (__tsan_ignore_thread_end) __tsan_ignore_thread_end(); }

// MARK: Choices

static struct {
  uint64_t random, priority_changes[3], steps;
  int switching;  // how often another thread goes on, in percent; 0: priorities decide
  int staleness;  // how often a load returns an older value, in percent
} seed;

static uint64_t next(void) {
  seed.random += 0x9E3779B97F4A7C15;
  uint64_t x = seed.random;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

static bool happens(int percent) { return (int)(next() % 100) < percent; }

// MARK: Threads

static struct thread {
  void (*body)(void *);
  void *context, *slot;
  bool exists, is_active;
  const void *awaited;  // a lock; null if the thread can go on
  uint64_t number, priority;
  uint32_t baton;
  moment now;
} all[threads];

static _Thread_local int me = no_thread;
static moment outside;       // what happened before a thread that is added from outside, or that runs a task
static uint64_t added;
static uint32_t is_over;

static void give(uint32_t *baton) {
  __atomic_store_n(baton, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, baton, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void take(uint32_t *baton) {
  while (!__atomic_load_n(baton, __ATOMIC_ACQUIRE))
    syscall(SYS_futex, baton, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  *baton = 0;
}

void simulation_fail(const char *message) {
  printf("%s\n", message);
  fflush(stdout);
  _exit(1);
}

/// The thread that goes on next; `no_thread` if all threads have ended.
static int pick(void) {
  int ready[threads], count = 0, active = 0;
  for (int i = 0; i < threads; i++) {
    active += all[i].is_active;
    if (all[i].is_active && !all[i].awaited) ready[count++] = i;
  }
  if (count == 0 && active > 0) simulation_fail("deadlock");
  if (count == 0) return no_thread;
  if (seed.switching) return ready[next() % count];
  int best = ready[0];
  for (int i = 1; i < count; i++)
    if (all[ready[i]].priority > all[best].priority) best = ready[i];
  return best;
}

/// Lets another thread go on, and returns when it is this thread's turn again.
static void pass(bool returns) {
  int other = pick();
  if (other == me && returns) return;
  uint32_t *mine = &all[me].baton;
  give(other == no_thread ? &is_over : &all[other].baton);
  if (returns) take(mine);
}

void simulation_point(void) {
  if (me == no_thread) return;
  if (++seed.steps > longest) simulation_fail("it does not end");
  if (seed.switching) {
    if (happens(seed.switching)) pass(true);
    return;
  }
  for (int i = 0; i < 3; i++)
    if (seed.priority_changes[i] == seed.steps) all[me].priority = i;
  pass(true);
}

static void *work(void *number) {
  me = (int)(intptr_t)number;
  while (true) {
    take(&all[me].baton);
    acquired(&all[me]);
    all[me].body(all[me].context);
    released(&is_over);
    all[me].is_active = false;
    pass(false);
  }
}

void simulation_spawn(void (*body)(void *), void *context) {
  enter();
  int i = 0;
  while (i < threads && all[i].is_active) i++;
  if (i == threads) simulation_fail("too many threads");
  struct thread *new = &all[i];
  *new = (struct thread) {
    .body = body, .context = context, .exists = new->exists, .is_active = true,
    .number = ++added, .priority = 3 + next() % 1000000, .now = new->now };
  join(&new->now, me == no_thread ? &outside : &all[me].now);
  leave();
  released(new);
  if (new->exists) return;
  new->exists = true;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  pthread_create(&thread, &attributes, work, (void *)(intptr_t)i);
}

void simulation_run(void) {
  int first = pick();
  if (first == no_thread) return;
  give(&all[first].baton);
  take(&is_over);
  acquired(&is_over);
}

uint64_t simulation_thread(void) { return me == no_thread ? 0 : all[me].number; }
void **simulation_slot(void) {
  static void *outside_slot;
  return me == no_thread ? &outside_slot : &all[me].slot;
}

// MARK: Memory

typedef struct {
  uint64_t value;
  int thread;
  uint32_t time;
  bool is_sequential;
  moment view;            // what happens before a load that acquires this store
  uint32_t seen[threads]; // when each thread first read it
} store;

static struct cell {
  const void *word;
  uint64_t schedule;
  int count;
  store stores[history];
} memory[cells];

static uint64_t schedule;
static uint64_t is_found[cells]; // the last schedule in which a word with this place was looked for

static size_t first_place(const void *word) { return ((uintptr_t)word >> 2) * 0x9E3779B97F4A7C15 >> 50; }

static struct cell *find(const void *word) {
  size_t place = first_place(word);
  is_found[place] = schedule;
  for (int tries = 0; tries < cells; tries++, place = (place + 1) % cells) {
    struct cell *cell = &memory[place];
    if (cell->schedule == schedule && cell->word != word) continue;
    if (cell->schedule != schedule) {
      cell->word = word;
      cell->schedule = schedule;
      cell->count = 0;
      memset(&cell->stores[0], 0, sizeof(store));
    }
    return cell;
  }
  simulation_fail("too many atomics");
}

// Freed memory forgets its history. A build with the thread sanitizer calls the sanitizer's function.
extern void __libc_free(void *);
__attribute__((weak)) void free(void *block) {
  const char *end = (char *)block + (block ? malloc_usable_size(block) : 0);
  for (const char *word = block; word < end; word += 8) {
    if (is_found[first_place(word)] != schedule || !schedule) continue;
    struct cell *cell = find(word);
    cell->count = 0;
    memset(&cell->stores[0], 0, sizeof(store));
  }
  __libc_free(block);
}

static bool acquires(int order) { return order == 2 || order >= 4; }
static bool releases(int order) { return order >= 3; }

/// The history of a word. If memory was initialized or moved in another way, all threads know its first value.
static struct cell *at(const uint64_t *word) {
  struct cell *cell = find(word);
  if (cell->count == 0 || cell->stores[cell->count - 1].value != *word) {
    memset(&cell->stores[0], 0, sizeof(store));
    cell->stores[0].value = *word;
    cell->count = 1;
  }
  return cell;
}

static bool knows(const store *store) {
  const uint32_t *now = all[me].now.at;
  if (store->time <= now[store->thread]) return true;
  for (int i = 0; i < threads; i++)
    if (store->seen[i] && store->seen[i] <= now[i]) return true;
  return false;
}

static uint64_t read_store(const void *word, store *store, int order) {
  if (acquires(order)) acquired(word);
  if (!store->seen[me]) store->seen[me] = all[me].now.at[me];
  if (acquires(order)) join(&all[me].now, &store->view);
  return store->value;
}

static void add_store(struct cell *cell, uint64_t *word, uint64_t value, int order, const moment *continued) {
  if (cell->count == history) {
    memmove(&cell->stores[0], &cell->stores[1], sizeof(store) * (history - 1));
    cell->count--;
  }
  store *new = &cell->stores[cell->count++];
  memset(new, 0, sizeof(store));
  new->value = value;
  new->thread = me;
  new->time = all[me].now.at[me];
  new->is_sequential = order == 5;
  if (continued) new->view = *continued;
  if (releases(order)) join(&new->view, &all[me].now);
  if (releases(order)) released(word);
  *word = value;
}

static struct cell *begin(const uint64_t *word) {
  enter();
  simulation_point();
  all[me].now.at[me]++;
  return at(word);
}

uint64_t multicast_load(const uint64_t *word, int order) {
  if (me == no_thread) return *word;
  struct cell *cell = begin(word);
  int oldest = cell->count - 1, newest = oldest;
  while (oldest > 0 && !knows(&cell->stores[oldest])
    && !(order == 5 && cell->stores[oldest].is_sequential)) oldest--;
  int chosen = oldest < newest && happens(seed.staleness) ? oldest + (int)(next() % (newest - oldest)) : newest;
  uint64_t value = read_store(word, &cell->stores[chosen], order);
  leave();
  return value;
}

void multicast_store(uint64_t *word, uint64_t value, int order) {
  if (me == no_thread) { *word = value; return; }
  add_store(begin(word), word, value, order, NULL);
  leave();
  // The stores to plain memory after this one are not published yet.
  if (releases(order)) simulation_point();
}

// A word, its last value `old`, and what to do with them.
#define UPDATE(new_value, is_done) \
  if (me == no_thread) { uint64_t old = *word; if (is_done) *word = new_value; return old; } \
  struct cell *cell = begin(word); \
  store *last = &cell->stores[cell->count - 1]; \
  uint64_t old = read_store(word, last, order); \
  moment view = last->view; \
  if (is_done) add_store(cell, word, new_value, order, &view); \
  leave(); \
  if (is_done && releases(order)) simulation_point(); \
  return old;

uint64_t multicast_exchange(uint64_t *word, uint64_t value, int order) { UPDATE(value, true) }
uint64_t multicast_add(uint64_t *word, uint64_t value, int order) { UPDATE(old + value, true) }
uint64_t multicast_compare_exchange(uint64_t *word, uint64_t expected, uint64_t desired, int order) {
  UPDATE(desired, old == expected)
}

// MARK: Locks

void multicast_acquire(multicast_lock *lock) {
  if (me == no_thread) { lock->state = 1; return; }
  enter();
  simulation_point();
  while (lock->state) { all[me].awaited = lock; pass(true); }
  lock->state = 1;
  join(&all[me].now, &find(lock)->stores[0].view);
  all[me].now.at[me]++;
  leave();
  acquired(lock);
}

void multicast_release(multicast_lock *lock) {
  if (me != no_thread) released(lock);
  lock->state = 0;
  if (me == no_thread) return;
  enter();
  find(lock)->stores[0].view = all[me].now;
  for (int i = 0; i < threads; i++)
    if (all[i].awaited == lock) all[i].awaited = NULL;
  leave();
  simulation_point();
}

// MARK: Tasks

// Hooks receive the jobs of Swift's runtime. The simulation does not know what happened before inside the runtime, so a job
// happens after all jobs that have ended.

typedef struct { uintptr_t identity, implementation; } executor;
/// Replaces the runtime's function of this name. While the thread holds the object that it has loaded, others may release it.
void *swift_weakLoadStrong(void *reference) {
  static void *(*load)(void *);
  if (!load) load = (void *(*)(void *))dlsym(RTLD_NEXT, "swift_weakLoadStrong");
  void *object = load(reference);
  enter();
  simulation_point();
  leave();
  return object;
}

typedef void (*enqueue_hook)(void *, void *) __attribute__((swiftcall));
typedef executor (*main_hook)(void *) __attribute__((swiftcall));
extern enqueue_hook swift_task_enqueueGlobal_hook;
extern main_hook swift_task_getMainExecutor_hook;
__attribute__((swiftcall)) void swift_job_run(void *job, uintptr_t identity, uintptr_t implementation);

static executor main_executor;

static void run_job(void *job) {
  join(&all[me].now, &outside);
  swift_job_run(job, 0, 0);
  join(&outside, &all[me].now);
}

__attribute__((swiftcall)) static void enqueue(void *job, void *original) { simulation_spawn(run_job, job); }
__attribute__((swiftcall)) static executor get_main(void *original) { return main_executor; }

void simulation_take_tasks(uintptr_t identity, uintptr_t implementation) {
  main_executor = (executor) { identity, implementation };
  swift_task_enqueueGlobal_hook = enqueue;
  swift_task_getMainExecutor_hook = get_main;
}

// MARK: Schedules and processes

void simulation_begin(uint64_t number) {
  enter();
  uint64_t length = seed.steps ? seed.steps : 300;
  schedule++;
  added = 0;
  memset(&outside, 0, sizeof outside);
  for (int i = 0; i < threads; i++) memset(&all[i].now, 0, sizeof(moment));
  memset(&seed, 0, sizeof seed);
  seed.random = number;
  static const int switching[] = { 0, 2, 10, 30, 60, 0 }, staleness[] = { 0, 10, 50 };
  seed.switching = switching[next() % 6];
  seed.staleness = staleness[next() % 3];
  for (int i = 0; i < 3; i++) seed.priority_changes[i] = 1 + next() % length;
  leave();
}

void simulation_be_fair(void) { if (!seed.switching) seed.switching = 10; }

void simulation_fix_addresses(char **arguments) {
  if (getenv("SWIFT_DETERMINISTIC_HASHING")) return;
  setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
  setenv("MALLOC_ARENA_MAX", "1", 1);
  // All threads share freed memory, so that a new client often has the address of an old one.
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
  setenv("TSAN_OPTIONS", "halt_on_error=1", 1);
  personality(ADDR_NO_RANDOMIZE);
  execv("/proc/self/exe", arguments);
}

int simulation_fork(void (*body)(void *), void *context, int seconds, int processor) {
  int process = fork();
  if (process) return process;
  // Handing over the baton is faster on one processor.
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
  sched_setaffinity(0, sizeof set, &set);
  // A limit of processor time, because other processes may need the processor. A blocked thread uses no processor time, so
  // a generous limit of the clock ends such a process.
  setitimer(ITIMER_PROF, &(struct itimerval) { .it_value.tv_sec = seconds }, NULL);
  alarm(30 * seconds);
  if (!getenv("LOUD")) close(STDERR_FILENO);
  body(context);
  fflush(stdout);
  _exit(0);
}

int simulation_wait(int process, int *status) { return waitpid(process, status, 0); }
