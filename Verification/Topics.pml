/*
 * Topics without observers are removed while other threads observe and post.
 *
 * Follows TopicRegistry (find, findOrMake, forget, giveUpEmpty), TopicList.closeIfEmpty, ClientList.closeIfEmpty,
 * ClientList.place, PostOffice (keep, wait, follow), Keeper, and the loops of MulticastCenter.observe and post.
 * Claims
 *   1. Every lookup of the topic finds an active observer that was added before.
 *   2. No observer is added to a closed list.
 *   3. Every call of observe and post returns.
 *   4. Every lookup of a topic that keeps its latest message finds a message, once a post has returned.
 *   5. A post that waits for the call in which it was made is kept in an open list.
 *
 * Two threads look the topic up, and then remove it if it has no observers, keeps nothing and waits for no post.
 * One owner observes and stays, and one observes and cancels. Or the topic keeps its latest message: one owner
 * observes, and one thread posts, in the call of another post or not.
 */

#include "variants.h"
#define LISTS  6

bool keeps;              /* whether the topic keeps its latest message */
bool office;             /* the office's lock; a list's lock is held for one step */
byte named;              /* the list under the topic's name; 0 if there is none */
byte made;
bool isClosed[LISTS];
byte observers[LISTS];   /* a bit for each */
bool kept[LISTS];        /* whether the list keeps a message */
byte pending[LISTS];     /* posts that were made and are not kept yet */
byte observing;          /* owners whose observe has returned, and who have not begun to cancel */
bool hasPosted;          /* whether a post has returned */

inline findOrMake() { atomic { when(named == 0, made++; assert(made < LISTS); named = made); list = named } }

/* TopicRegistry.forget, one step with the lock held. */
inline forget(l) { choose(MUTANT_FORGOTTEN_BY_NAME, named = 0, atomic { when(named == l, named = 0) }) }

/* TopicList.closeIfEmpty. Counts live owners first, without a lock. */
inline closeIfEmpty(l) {
  isEmpty = observers[l] == 0;
  when(isEmpty,
    when(keeps, acquire(office));
    isEmpty = (!kept[l] || is(MUTANT_CLOSED_THOUGH_IT_KEEPS))
      && (pending[l] == 0 || is(MUTANT_CLOSED_THOUGH_A_POST_WAITS));
    only(MUTANT_CLOSED_WITHOUT_THE_OFFICE, office = false;)
    /* ClientList.closeIfEmpty */
    atomic {
      only(GOAL_SOMEBODY_CAME, assert(!isEmpty || observers[l] == 0);)
      isClosed[l] = isClosed[l] || isEmpty && (observers[l] == 0 || is(MUTANT_CLOSED_WITHOUT_A_SECOND_LOOK));
      isEmpty = isClosed[l]
    };
    unless(MUTANT_CLOSED_WITHOUT_THE_OFFICE, office = false))
}

proctype Observer(byte me; bool cancels) {
  byte list;
  do
  :: findOrMake();
     /* ClientList.place */
     atomic {
       if
       :: isClosed[list] && !is(MUTANT_CLOSED_IGNORED) -> only(GOAL_OBSERVER_FOUND_IT_CLOSED, assert(false)); skip
       :: else -> assert(!isClosed[list]); observers[list] = observers[list] | me; break
       fi
     };
     forget(list)
  od;
  observing = observing | me;
  when(cancels, observing = observing & ~me; observers[list] = observers[list] & ~me)
}

/* PostOffice.keep; for a post that must wait, PostOffice.wait. */
inline keepOrCount(mustWait) {
  isOpen = !isClosed[list];
  when(isOpen,
    acquire(office);
    isOpen = !isClosed[list] || is(MUTANT_KEPT_WITHOUT_A_SECOND_LOOK) && !mustWait
      || is(MUTANT_COUNTED_WITHOUT_A_SECOND_LOOK) && mustWait;
    atomic { pending[list] = pending[list] + (mustWait && isOpen); kept[list] = kept[list] || !mustWait && isOpen };
    office = false)
}

proctype Poster() {
  byte list; bool isOpen, waits;
  select(waits : 0 .. 1);
  do
  :: findOrMake();
     keepOrCount(waits);
     when(isOpen, break);
     only(GOAL_POST_FOUND_IT_CLOSED, assert(waits);) only(GOAL_WAITING_POST_FOUND_IT_CLOSED, assert(!waits);)
     forget(list)
  od;
  /* PostOffice.follow */
  when(waits, keepOrCount(false); assert(isOpen); atomic { !office -> pending[list]-- });
  hasPosted = true
}

proctype Finder() {
  byte list, expected; bool isEmpty, isKept; byte round;
  do
  :: round < 2 - keeps -> atomic { expected = observing; isKept = hasPosted }; list = named;
     /* An owner that has begun to cancel is not expected. */
     atomic {
       expected = expected & observing;
       assert(expected == 0 || (list != 0 && (observers[list] & expected) == expected));
       assert(!isKept || (list != 0 && kept[list]))
     };
     when(list != 0, closeIfEmpty(list); when(isEmpty, forget(list)));
     round++
  :: else -> break
  od
}

init {
  byte stays;
  atomic {
    if
    :: run Observer(1, false); run Observer(2, true); stays = 1
    :: keeps = true; run Poster(); run Observer(1, false); stays = 1
    :: keeps = true; run Poster(); run Observer(2, true)
    fi;
    run Finder(); run Finder()
  };
  /* All threads have ended. */
  _nr_pr == 1; assert(named != 0 && observers[named] == stays && kept[named] == keeps)
}
