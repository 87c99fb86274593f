/*
 * What the models share. A variant is a model that is compiled with -DNAME.
 *
 *   acquire(LOCK)                 waits for a lock, which `LOCK = false` releases
 *   when(CONDITION, STEPS)        the steps if the condition holds
 *   only(NAME, STEPS)             the steps in this variant
 *   unless(NAME, STEPS)           the steps in all others
 *   choose(NAME, STEPS, OTHERS)   one or the other; STEPS have no comma outside of parentheses
 */

#define acquire(lock) atomic { !lock -> lock = true }
#define when(condition, ...) if :: condition -> __VA_ARGS__ :: else fi
#define only(name, ...) paste(only_, is(name))(__VA_ARGS__)
#define unless(name, ...) paste(unless_, is(name))(__VA_ARGS__)
#define choose(name, ...) paste(choose_, is(name))(__VA_ARGS__)

/* 1 if -DNAME defines NAME, which is 1 then, and 0 otherwise: SHIFT_1 moves a 1 into the second place. */
#define is(name) apply(second, paste(SHIFT_, name) 1, 0, 0)
#define SHIFT_1 0,
#define apply(macro, ...) macro(__VA_ARGS__)
#define second(a, b, ...) b
#define paste(a, b) pasted(a, b)
#define pasted(a, b) a##b
#define only_1(...) __VA_ARGS__
#define only_0(...)
#define unless_1(...)
#define unless_0(...) __VA_ARGS__
#define choose_1(steps, ...) steps
#define choose_0(steps, ...) __VA_ARGS__
