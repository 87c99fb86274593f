/*
 * Topics without observers are removed while another thread observes.
 *
 * Follows TopicRegistry (find, findOrMake, forget, giveUpEmpty), TopicList.closeIfEmpty,
 * ClientList.closeIfEmpty, placeIfThereIsRoom and the loop of MulticastCenter.observe.
 *
 * Claims
 *   1. Every lookup of the topic finds an active observer that was added before.
 *   2. No observer is added to a closed list.
 *   3. Every call of observe returns.
 *
 * One owner observes and stays, one observes and cancels. Two threads look the topic up, and then remove it
 * if it has no observers.
 */

#include "variants.h"

#define LISTS  6

byte named;              /* the list under the topic's name; 0 if there is none */
byte made;
bool isClosed[LISTS];
byte observers[LISTS];   /* a bit for each */
byte observing;          /* owners whose observe has returned, and who have not begun to cancel */

/* TopicRegistry.forget, one step with the lock held. */
inline forget(l) {
  choose(MUTANT_FORGOTTEN_BY_NAME, named = 0, atomic { when(named == l, named = 0) })
}

/* ClientList.closeIfEmpty. Checks for live owners first, without the lock. */
inline closeIfEmpty(l) {
  isEmpty = observers[l] == 0;
  when(isEmpty,
    atomic {
      isClosed[l] = isClosed[l] || observers[l] == 0 || is(MUTANT_CLOSED_WITHOUT_A_SECOND_LOOK);
      only(GOAL_SOMEBODY_CAME, assert(observers[l] == 0);)
      isEmpty = isClosed[l]
    })
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
     /* An owner that has begun to cancel is not expected. */
     atomic {
       expected = expected & observing;
       assert(expected == 0 || (list != 0 && (observers[list] & expected) == expected))
     };
     when(list != 0,
       closeIfEmpty(list);
       when(isEmpty, forget(list)));
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
  /* All threads have ended. */
  _nr_pr == 1;
  assert(named != 0 && observers[named] == 1)
}
