/*
 * One owner's handler under one id: it is replaced in its home and in another one, while others post and one
 * thread cancels it.
 *
 * Follows TopicObserver (take, replaceHandler, cancel), TopicList (observe, replaceHandler, place), ClientList
 * (place, companions, callHandler) and TopicObservation.cancel. Ids are compared with no lock held.
 * Claims
 *   1. A handler made with `once` is called at most once.
 *   2. A post calls at most one handler of the owner.
 *   3. After observe has returned, the next post calls a new handler, unless that has ended.
 *   4. A token cancels its own handler only.
 *   5. The owner has at most one registration. An ended one is removed eventually, and its handler released.
 *
 * Handler 1 exists from the beginning, in home 0. One thread observes with handler 2 in the same home, which
 * replaces it in its place. Another one may observe with handler 3 in home 1. All are made with `once`. Two threads
 * post. One cancels handler 1. Or handler 1 is that of another owner, which was deallocated at the same address.
 */

#include "variants.h"
#define BOXES 4
#define NONE  9
#define isCompanion(b) (registered[b] && (b != 0 || !isDead || is(MUTANT_DEAD_OWNERS_HANDLER_REPLACED)))
#define registrations (registered[0] + registered[1] + registered[2] + registered[3])
#define companions (isCompanion(0) + 2 * isCompanion(1) + 4 * isCompanion(2) + 8 * isCompanion(3))

/* Boxes of the list, in order; box b is registration b. */
bool registered[BOXES];
byte count;
bool isDead;             /* whether the owner of box 0 is */

/* The observer of each box, with a lock of its own. */
bool home[BOXES];
byte handler[BOXES];     /* 0: receives no more messages */
byte version[BOXES];

byte calls[4];           /* by handler */
byte observing = 2;      /* calls of observe that have not returned */

/* One step with the observer's or the list's lock held, unless a mutant splits it. */
#define take choose(MUTANT_ONCE_IN_TWO_STEPS, , atomic)
#define placeAndVacate choose(MUTANT_OLD_ONE_VACATED_LATER, , atomic)

/* ClientList.callHandler. */
inline deliver(b) {
  take {
    taken = handler[b];
    atomic { handler[b] = 0; when(taken != 0, calls[taken]++; called++; assert(called == 1 && calls[taken] == 1)) }
  };
  /* ClientList.remove, of this registration */
  when(taken != 0,
    registered[b] = false only(MUTANT_REMOVED_BY_OWNER, ; for (b : 0 .. count - 1) { registered[b] = false }))
}

proctype Poster() {
  byte b, limit, taken, called; bool expected;
  /* ClientList.beginWalk */
  atomic { expected = observing == 0 && calls[2] + calls[3] == 0; limit = count };
  do
  :: b < limit ->
     if
     :: registered[b] && b == 0 && isDead -> registered[0] = false /* Walk.noteDead */
     :: registered[b] && (b != 0 || !isDead) -> deliver(b)
     :: else
     fi;
     b++
  :: else -> break
  od;
  assert(!expected || calls[2] + calls[3] > 0)
}

/* TopicList.observe. */
proctype Observer(byte me; bool here) {
  byte b, old, known;
  do
  :: /* ClientList.companions, and the comparison of ids */
     atomic {
       known = companions; old = NONE;
       for (b : 0 .. BOXES - 1) { when(isCompanion(b), old = b) }
     };
     /* replaceHandler */
     when(old != NONE && home[old] == here && registered[old],
       atomic {
         when(handler[old] != 0 || is(MUTANT_REPLACED_THOUGH_ENDED),
           handler[old] = me; version[old]++; only(GOAL_REPLACED_IN_ITS_HOME, assert(false);) goto done)
       });
     /* ClientList.place */
     placeAndVacate {
       if
       :: known != companions && !is(MUTANT_CHANGE_NOT_NOTICED) -> only(GOAL_CHANGED, assert(false)); skip
       :: else ->
          atomic { registered[count] = true; home[count] = here; handler[count] = me; count++ };
          when(old != NONE, registered[old] = false);
          atomic { assert(is(MUTANT_OLD_ONE_VACATED_LATER) || isDead || registrations == 1); break }
       fi
     }
  od;
  unless(MUTANT_OLD_ONE_NOT_CANCELLED, when(old != NONE, handler[old] = 0);)
done: observing--
}

/* TopicObservation.cancel, with the token of handler 1. */
proctype Canceller() {
  bool did;
  /* Finds the registration by its number, which is never reused. */
  when(registered[0] && !isDead,
    atomic {
      did = handler[0] != 0 && (is(MUTANT_CANCELLED_IN_ANY_VERSION) || version[0] == 0);
      when(did, handler[0] = 0)
    };
    when(did, registered[0] = false))
}

init {
  byte b;
  atomic {
    select(isDead : 0 .. 1);
    registered[0] = true; handler[0] = 1; count = 1;
    run Poster(); run Poster(); run Observer(2, 0);
    if :: run Observer(3, 1) :: observing-- fi;
    run Canceller()
  };
  _nr_pr == 1;
  atomic {
    /* A dead owner's box and handler end with a walk. */
    when(isDead, registered[0] = false; handler[0] = 0);
    for (b : 0 .. BOXES - 1) { assert(registered[b] == (handler[b] != 0)) }
    assert(registrations < 2 && registrations + calls[2] + calls[3] > 0)
  }
}
