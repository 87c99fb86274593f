/*
 * Topics that are given up when nobody observes them, while somebody observes.
 *
 * Follows TopicRegistry (find, findOrMake, forget, giveUpEmpty), TopicList.closeIfEmpty,
 * ClientList.closeIfEmpty, placeIfThereIsRoom and the loop of MulticastCenter.observe.
 *
 * Claims
 *   1. Whoever has observed, and has not ended it, is found by every later look-up of the topic.
 *   2. Nobody is added to a list that was given up.
 *   3. Everybody who observes comes to an end.
 *
 * One owner observes and stays, one observes and cancels, two threads look the topic up, and then give
 * it up if nobody observes it.
 */

#include "variants.h"

#define LISTS  6

byte named;              /* the list under the topic's name; 0 if there is none */
byte made;
bool isClosed[LISTS];
byte observers[LISTS];   /* a bit for each */
byte observing;          /* those whose observe has returned, and who have not begun to cancel */

/* TopicRegistry.forget. The lock is held for this step. */
inline forget(l) {
  choose(MUTANT_FORGOTTEN_BY_NAME, named = 0, atomic { when(named == l, named = 0) })
}

/* ClientList.closeIfEmpty. Whether somebody is alive is looked at first, without the lock. */
inline closeIfEmpty(l) {
  isEmpty = observers[l] == 0;
  if
  :: isEmpty ->
     atomic {
       isClosed[l] = isClosed[l] || observers[l] == 0 || is(MUTANT_CLOSED_WITHOUT_A_SECOND_LOOK);
       only(GOAL_SOMEBODY_CAME, assert(observers[l] == 0);)
       isEmpty = isClosed[l]
     }
  :: else
  fi
}

proctype Observer(byte me; bool cancels) {
  byte list;
  do
  :: /* findOrMake */
     atomic {
       when(named == 0, made++; assert(made < LISTS); named = made);
       list = named
     };
     /* placeIfThereIsRoom */
     atomic {
       if
       :: isClosed[list] && !is(MUTANT_CLOSED_IGNORED) ->
          only(GOAL_CLOSED, assert(false);)
          skip
       :: else -> assert(!isClosed[list]); observers[list] = observers[list] | me; break
       fi
     };
     forget(list)
  od;
  observing = observing | me;
  when(cancels, observing = observing & ~me; observers[list] = observers[list] & ~me)
}

proctype Finder() {
  byte list, expected;
  bool isEmpty;
  byte round;
  do
  :: round < 2 ->
     expected = observing;
     list = named;
     /* Whoever has begun to cancel meanwhile is not expected. */
     atomic {
       expected = expected & observing;
       assert(expected == 0 || (list != 0 && (observers[list] & expected) == expected))
     };
     if
     :: list != 0 ->
        closeIfEmpty(list);
        if
        :: isEmpty ->
           forget(list)
        :: else
        fi
     :: else
     fi;
     round++
  :: else -> break
  od
}

init {
  atomic {
    run Observer(1, false);
    run Observer(2, true);
    run Finder();
    run Finder()
  };
  /* Everybody has come to an end. */
  _nr_pr == 1;
  assert(named != 0 && observers[named] == 1)
}
