// A scheduler that runs one thread at a time, and a memory that returns old values where the orderings allow it.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Begins a schedule: forgets everything that has happened, and makes the choices of this seed.
void simulation_begin(uint64_t seed);

/// Lets every thread go on from time to time in this schedule. Otherwise, a thread that spins might wait forever for a thread of
/// lower priority.
void simulation_be_fair(void);

/// Adds a thread, which runs in `simulation_run`. A simulated thread may add others.
void simulation_spawn(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);

/// Runs all threads to their ends. Ends the process with a message if they cannot.
void simulation_run(void);

/// A step at which another thread may go on.
void simulation_point(void);

/// The number of the current thread in this schedule, from 1; 0 outside the simulation. Numbers are not reused.
uint64_t simulation_thread(void);

/// A pointer that belongs to the current simulated thread; null when the thread begins.
void *_Nullable *_Nonnull simulation_slot(void);

/// Makes the tasks of Swift's runtime simulated threads. Tasks of the main actor run in an executor of these two words.
void simulation_take_tasks(uintptr_t identity, uintptr_t implementation);

/// Prints a message, and ends the process with status 1.
_Noreturn void simulation_fail(const char *_Nonnull message);

/// Starts the program again with addresses that repeat, if the system lets it.
void simulation_fix_addresses(char *_Nullable *_Nonnull arguments);

/// Runs `body` in its own process, on the processor of this number, for at most this number of seconds of processor time. Closes
/// its standard error, unless the environment has LOUD. Returns the id of the process; -1 if none could be started.
int simulation_fork(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context, int seconds, int processor);

/// Waits for a process of `simulation_fork`, or for any of them if `process` is -1. Returns its id. The status is 0 if the
/// process has found no fault.
int simulation_wait(int process, int *_Nonnull status);
