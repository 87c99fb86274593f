/*
 * A handler that moves to another home while posts are active.
 *
 * Follows TopicList.move, TopicObserver (take, move, beginQueue, enqueue, handleQueue), and PostOffice (deliver,
 * call, leave) with Departure.takeClosedQueues and noteSinceWalk, for a topic that keeps no message.
 *
 * Claims
 *   1. Every post reaches the old handler or the new one, once.
 *   2. The posts of one thread reach them in their order.
 *
 * A call is one step: the new handler may be called during a call of the old one.
 *
 * One thread posts three times. One moves the handler, with or without a home before and after. Registration 1
 * is the old one, 2 the new one.
 */

#include "variants.h"

#define OLD 1
#define NEW 2

bool office;
bool livesElsewhere[3];          /* by registration: whether it has a home */
byte registered = OLD;           /* the registration in the list */
byte lastNumber;                 /* of letters */

/* Observers. */
bool hasHandler[3], hasSuccessor, hasQueue;
byte lastLetter;
chan queue = [4] of { byte };    /* of the new one */

/* Homes, by registration: a letter's number and its post. */
chan letters[3] = [4] of { byte, byte };
byte currentNumber, currentPost; /* the letter being handled in the old home; 0 for none */
byte had;                        /* the last post handled */

inline receive(p) { atomic { assert(p == had + 1); had = p } }

/* TopicObserver.take on posting, in the box of registration r. */
inline take(r, p) {
  atomic {
    if
    :: r == OLD && hasSuccessor -> isMoved = true
    :: r == NEW && hasQueue -> isQueued = true
    :: else -> assert(hasHandler[r]); receive(p)
    fi
  }
}

proctype Poster() {
  byte p, walked, moves;
  bool isMoved, isQueued, toGroup;
  p = 1;
  do
  :: p <= 3 ->
     /* beginPost, which counts the replacements */
     atomic { walked = registered; toGroup = livesElsewhere[walked]; isMoved = false; isQueued = false };
     when(!toGroup, take(walked, p));
     when(toGroup || isMoved || isQueued,
       do
       :: /* leave */
          only(MUTANT_QUEUED_BEFORE_IT_LEAVES, atomic { when(isQueued && hasQueue, queue!p; isQueued = false) };)
          acquire(office);
          atomic {
            unless(MUTANT_MOVE_NOT_NOTED, isMoved = isMoved || (toGroup && walked == OLD && registered == NEW);)
            toGroup = toGroup && registered == walked
          };
          if
          :: isQueued && !hasQueue ->
             /* takeClosedQueues */
             only(GOAL_QUEUE_HAD_ENDED, assert(false);)
             office = false;
             isQueued = false;
             take(NEW, p)
          :: !(isQueued && !hasQueue) && isMoved && !livesElsewhere[NEW] ->
             office = false;
             only(GOAL_CALLED_AGAIN, assert(false);)
             isMoved = false;
             take(NEW, p)
          :: else ->
             when(isQueued, queue!p; isQueued = false);
             when(isMoved || toGroup, lastNumber++; letters[(isMoved -> NEW : walked)]!lastNumber,p);
             office = false;
             break
          fi
       od);
     p++
  :: else -> break
  od
}

/* A drain of the home of r. */
proctype Home(byte r) {
  byte n, p, found;
end:
  do
  :: atomic { letters[r]?n,p;
       when(r == OLD, currentNumber = n; currentPost = p)
     };
     /* A walk over the group, or at the registration. */
     found = registered;
     when(found == r,
       atomic { when(r != OLD || !hasSuccessor, receive(p); when(r == OLD, lastLetter = n)) });
     when(r == OLD, atomic { currentNumber = 0; currentPost = 0 })
  od
}

proctype Mover() {
  byte n, p, last, count;
  chan taken = [4] of { byte, byte };
  acquire(office);
  /* unhandledLetters. The letters stay, and find no recipient. */
  atomic {
    when(currentNumber != 0, taken!currentNumber,currentPost);
    count = len(letters[OLD]);
    do
    :: count > 0 -> letters[OLD]?n,p; letters[OLD]!n,p; taken!n,p; count--
    :: count == 0 -> break
    od
  };
  unless(MUTANT_NO_QUEUE_BEGUN, hasQueue = !livesElsewhere[NEW];)
  /* replaceHandingOut */
  atomic { hasHandler[NEW] = true; registered = NEW };
  /* TopicObserver.move */
  atomic { hasSuccessor = true; hasHandler[OLD] = false; last = lastLetter };
  only(MUTANT_ALL_LETTERS_TAKEN, last = 0;)
  atomic {
    do
    :: taken?n,p ->
       if
       :: n <= last
       :: n > last && livesElsewhere[NEW] -> letters[NEW]!n,p
       :: n > last && !livesElsewhere[NEW] -> queue!p
       fi
    :: empty(taken) -> break
    od
  };
  office = false;
  /* handleQueue */
  do
  :: hasQueue ->
     if
     :: queue?p -> receive(p)
     :: empty(queue) ->
        /* closeEmptyQueue */
        acquire(office);
        atomic {
          if
          :: empty(queue) -> hasQueue = false
          :: nempty(queue)
          fi
        };
        office = false
     fi
  :: else -> break
  od
}

init {
  byte lives;
  atomic {
    select(lives : 0 .. 1); livesElsewhere[OLD] = lives;
    select(lives : 0 .. 1); livesElsewhere[NEW] = lives;
    hasHandler[OLD] = true;
    run Poster();
    run Mover();
    run Home(OLD);
    run Home(NEW)
  };
  timeout -> assert(had == 3)
}
