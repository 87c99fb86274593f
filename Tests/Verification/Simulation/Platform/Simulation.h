// A scheduler that runs one thread at a time, and a memory that shows old values where orders allow it.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Begins a schedule: forgets all that has happened, and makes the choices of this seed.
void simulation_begin(uint64_t seed);

/// Lets every thread go on now and then in this schedule: who waits by looking again and again might otherwise wait for
/// one of a lower priority.
void simulation_be_fair(void);

/// Adds a thread, which runs in `simulation_run`. A simulated thread may add others.
void simulation_spawn(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context);

/// Runs all threads to their ends. Ends the process with a message if they cannot.
void simulation_run(void);

/// A step at which another thread may go on.
void simulation_point(void);

/// The number of the current thread in this schedule, from 1; 0 outside of the simulation. Not reused.
uint64_t simulation_thread(void);

/// A pointer that the current simulated thread has for itself; null when it begins.
void *_Nullable *_Nonnull simulation_slot(void);

/// The steps of this schedule so far.
uint64_t simulation_steps(void);

/// Makes the tasks of Swift's runtime simulated threads. The main actor's run in an executor of these two words.
void simulation_take_tasks(uintptr_t identity, uintptr_t implementation);

/// Prints a message, and ends the process with status 1.
_Noreturn void simulation_fail(const char *_Nonnull message);

/// Starts the program again with addresses that repeat, if the system lets it.
void simulation_fix_addresses(char *_Nullable *_Nonnull arguments);

/// Runs `body` in a process of its own, with a limit of seconds of the processor, on a processor of this number. Returns its id.
int simulation_fork(void (*_Nonnull body)(void *_Nonnull), void *_Nonnull context, int seconds, int processor);

/// Waits for a process of `simulation_fork`, or for any if `process` is -1. Returns its id. The status is 0 if it has found nothing.
int simulation_wait(int process, int *_Nonnull status);
