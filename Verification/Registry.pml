/*
 * The registry: lookups without a lock, while other threads insert and the table grows.
 *
 * Follows RegistryTable (find, find(_:orInsert:)) and RegistryPlaces (find, insert, insert(contentsOf:)).
 * Claims
 *   1. A thread that finds a key finds its registry, which has been written.
 *   2. All threads get the same registry for a key.
 *   3. A lookup that begins after a thread got a registry finds it.
 *   4. Every search ends, and none reads freed memory.
 *
 * Two threads insert keys, one looks keys up. The keys 1, 5 and 9 have the same first place in the tables of 2
 * and 4, and two of them in that of 8.
 */

#include "variants.h"
#define PLACES         14                      /* of three tables: 2, 4 and 8 */
#define capacity(t)    (2 << (t))
#define place(t, p)    ((2 << (t)) - 2 + (p))
#define first(t, k)    ((k) & (capacity(t) - 1))

byte key[PLACES];       /* 0: free */
byte registry[PLACES];  /* 0: not written */
bool freed[3];
byte current;           /* the table in use */
byte count;             /* of registries */
bool locked;

byte made[10];          /* by key: its only registry */
bool known[10];         /* by key: whether a thread has got its registry */

/* RegistryPlaces.find: the registry in table t, or 0. */
inline search(t, k, result) {
  p = first(t, k); steps = 0;
  do
  :: assert(!freed[t]); steps++; assert(steps <= capacity(t));
     if
     :: key[place(t, p)] == k -> only(GOAL_FOUND_IN_OUTGROWN, assert(t == current);)
        result = registry[place(t, p)]; assert(result == made[k] && result != 0); break
     :: key[place(t, p)] == 0 -> result = 0; break
     :: else -> only(MUTANT_NO_PROBING, result = 0; break;)
        p = (p + 1) & (capacity(t) - 1)
     fi
  od
}

/* RegistryPlaces.insert, with the lock held. */
inline insert(t, k, value) {
  p = first(t, k);
  do :: key[place(t, p)] != 0 -> p = (p + 1) & (capacity(t) - 1) :: else -> break od;
  only(MUTANT_KEY_BEFORE_REGISTRY, key[place(t, p)] = k;)
  registry[place(t, p)] = value
  unless(MUTANT_KEY_BEFORE_REGISTRY, ; key[place(t, p)] = k)
}

/* RegistryTable.find(_:orInsert:). */
inline ask(k) {
  t = current; search(t, k, found);
  if
  :: found != 0
  :: else -> acquire(locked); t = current;
     unless(MUTANT_NO_SECOND_LOOK, search(t, k, found);)
     if
     :: found != 0 -> only(GOAL_SOMEBODY_WAS_FASTER, assert(false);) skip
     :: else -> assert(made[k] == 0); made[k] = k; count++;
        when(!is(MUTANT_NO_GROWTH) && count * 2 > capacity(t),
          only(MUTANT_CURRENT_BEFORE_CONTENTS, current = t + 1;)
          for (q : 0 .. capacity(t) - 1) {
            when(key[place(t, q)] != 0, insert(t + 1, key[place(t, q)], registry[place(t, q)]))
          }
          t++);
        insert(t, k, made[k]); only(MUTANT_OUTGROWN_FREED, when(current != t, freed[current] = true);)
        current = t; found = made[k]
     fi;
     locked = false
  fi;
  assert(found == made[k]); known[k] = true
}

proctype Asker(byte one; byte other) {
  byte t, p, q, steps, found;
  ask(one); ask(other)
}

/* RegistryTable.find. */
proctype Finder() {
  byte t, p, k, steps, found; bool wasKnown; byte round;
  do
  :: round < 2 -> select(k : 0 .. 2); k = 4 * k + 1; wasKnown = known[k]; t = current;
     search(t, k, found); assert(found != 0 || !wasKnown); round++
  :: else -> break
  od;
  only(GOAL_GROWN_TWICE, assert(current < 2);)
}

init { atomic { run Asker(1, 5); run Asker(5, 9); run Finder() } }
