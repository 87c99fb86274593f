/*
 * One owner's handler of a topic: several threads post, one replaces it in its home, one cancels it.
 *
 * Follows TopicObserver (take, replace, cancel, isActive), TopicList (observe, exchange, removeEnded, cancel),
 * ClientList.callUnusual and TopicObservation.cancel.
 *
 * Claims
 *   1. A handler made with `once` is called at most once.
 *   2. A post calls at most one handler of the owner.
 *   3. After observe has returned, the next post calls the new handler, unless its observation has ended.
 *   4. A token cancels its own handler only.
 *   5. The owner has at most one registration. An ended one is removed eventually.
 *
 * Handler 1 exists from the beginning. One thread replaces it by handler 2. Both are made with `once`. Two
 * threads post. One cancels handler 1.
 */

#include "variants.h"

#define BOXES 3

/* Boxes of the list, in order; box b is registration b. */
bool identity[BOXES];
byte count;

/* The observer of each box, with a lock of its own. */
byte handler[BOXES];     /* 0: receives no more messages */
byte version[BOXES];

byte calls[3];           /* by handler */
bool isObserved;         /* whether the second observe has returned */

/* One step with the observer's lock held, unless a mutant splits it. */
#define take choose(MUTANT_ONCE_IN_TWO_STEPS, , atomic)

/* TopicObserver.take, the call, and the rest of callUnusual. */
inline deliver(b) {
  take {
    taken = handler[b];
    atomic {
      handler[b] = 0;
      when(taken != 0, calls[taken]++; called++; assert(called == 1 && calls[taken] == 1))
    }
  };
  when(taken != 0, identity[b] = false /* ClientList.remove of this registration */)
}

proctype Poster() {
  byte b, limit, taken, called;
  bool expected;
  /* ClientList.beginWalk */
  atomic {
    expected = isObserved && calls[2] == 0;
    limit = count
  };
  do
  :: b < limit ->
     when(identity[b], deliver(b));
     b++
  :: else -> break
  od;
  assert(!expected || calls[2] == 1)
}

/* TopicList.observe, with handler 2. */
proctype Replacer() {
  byte b, old;
  do
  :: /* placeIfThereIsRoom */
     atomic {
       b = 0;
       do
       :: b < count && !identity[b] -> b++
       :: else -> break
       od;
       when(b == count,
         assert(count < BOXES);
         identity[count] = true; handler[count] = 2; count++;
         break)
     };
     /* replace, if it is still registered: TopicObserver.replace */
     when(identity[b],
       atomic {
         when(is(MUTANT_REPLACED_THOUGH_ENDED) || handler[b] != 0,
           handler[b] = 2; version[b]++;
           only(GOAL_REPLACED, assert(false);)
           break)
       });
     /* removeEnded */
     only(GOAL_ENDED_WHEN_REPLACED, assert(false);)
     when(handler[b] == 0, identity[b] = false)
  od;
  atomic {
    isObserved = true;
    assert(identity[0] + identity[1] + identity[2] <= 1)
  }
}

/* TopicObservation.cancel, with the token of handler 1. */
proctype Canceller() {
  bool did;
  byte b;
  /* Finds the registration by its number, which is never reused. */
  when(identity[0],
    atomic {
      did = handler[0] != 0 && (is(MUTANT_CANCELLED_IN_ANY_VERSION) || version[0] == 0);
      when(did, handler[0] = 0)
    };
    when(did,
      identity[0] = false
      only(MUTANT_REMOVED_BY_OWNER, ; for (b : 1 .. count - 1) { identity[b] = false })))
}

init {
  atomic {
    identity[0] = true; handler[0] = 1; count = 1;
    run Poster();
    run Poster();
    run Replacer();
    run Canceller()
  };
  _nr_pr == 1;
  atomic {
    assert(identity[0] + identity[1] + identity[2] == 1 - calls[2]);
    assert(calls[2] == 1 || handler[count - 1] == 2)
  }
}
