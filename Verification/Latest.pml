/*
 * A topic that keeps its latest message: observers are added, and handlers replaced in their homes, while other
 * threads post.
 *
 * Follows PostOffice (keep, begin, handleLetters, handleWaiting), Mailbox (schedule, claim, release, takeBatch,
 * drainHere, drainForATurn), TopicList (place, replaceHandler) and TopicObserver (take, replaceHandler). The
 * office's lock is held for one step.
 * Claims
 *   1. A handler first receives the post that is kept when it is added, or an earlier one that waits there for
 *      the handler that it replaces. Then it receives every later one, once, in the order in which they are kept.
 *   2. While a handler is called with a post, that post or a later one is kept.
 *   3. When a post returns, a handler without a home has received it, or a thread has claimed its mailbox.
 *   4. At the end no letters wait, no drain is scheduled, and nothing is claimed.
 *
 * Two threads post twice and once; one of them is in the second mailbox's home. The first mailbox is the inline
 * one of an observer without a home, the second one a home of two observers. One of these is registered from the
 * beginning; one of the others is added. One thread replaces the handler of the first two, twice.
 */

#include "variants.h"
#define INLINE   0     /* mailboxes */
#define HOME     1
#define LATE     2     /* an observer; 0 and 1 live in the mailboxes of these numbers */
#define EVERYONE 3     /* an addressee: those in this home who are registered before the post's number */
#define NEVER    9     /* a place of no post */

chan letters[2] = [6] of { byte, byte, byte };   /* post, number, addressee */
bool isScheduled[2], isClaimed[2];
byte jobs;                       /* started drains of the home */
byte kept, keptNumber;           /* the post that is kept, and its number */
byte nextNumber = 1;             /* of registrations and posts */
byte number[3];                  /* of each observer; 0 until it is placed */
byte lastKept[3];

/* What the claims compare with. */
byte order[4] = NEVER;           /* by post: its place among those that were kept */
byte count;                      /* of them */
byte next[3];                    /* by observer: the place of the post that its handler must receive next */
byte all;                        /* a bit for each post that was kept */
byte heard;                      /* a bit for each that observer 0 has received, or that was kept before it came */

#define mailbox(o) (o == LATE -> HOME : o)

/* One step with the lock held, unless a mutant splits it. */
#define keepAndLeave choose(MUTANT_KEPT_AFTERWARDS, , atomic)
#define placeAndLeave choose(MUTANT_BEGUN_AFTERWARDS, , atomic)
#define takeOrEnd choose(MUTANT_RELEASED_WITHOUT_A_LOOK, , atomic)

/* Mailbox.schedule. */
inline schedule(m, result) {
  result = !isClaimed[m] && !isScheduled[m] && nempty(letters[m]);
  when(result && (m != INLINE || is(MUTANT_INLINE_IS_SCHEDULED)), isScheduled[m] = true)
}

/* TopicObserver.take, and the call. */
inline receive(o) {
  when(number[o] != 0 && (to == o || to == EVERYONE && (number[o] < n || is(MUTANT_LIMIT_NOT_COMPARED))),
    lastKept[o] = n; assert(order[p] == next[o] && next[o] < count); next[o]++;
    when(o == INLINE, heard = heard | (1 << p)))
}

/* Mailbox.handle. Calls are of one step each; only one thread at a time makes them. */
inline handle(m) {
  do
  :: batch?p,n,to ->
     if :: m == INLINE -> atomic { receive(INLINE) } :: else -> atomic { receive(HOME) }; atomic { receive(LATE) } fi
  :: empty(batch) -> break
  od;
  atomic { p = 0; n = 0; to = 0 }
}

inline takeAll(m) {
  atomic { do :: letters[m]?p,n,to -> batch!p,n,to :: empty(letters[m]) -> p = 0; n = 0; to = 0; break od }
}

#define mayTake(m) (!isFirst || !isClaimed[m] || is(MUTANT_DRAINED_BESIDE_A_CALL))

/* Mailbox.takeBatch, for drainHere and drainForATurn. */
inline drain(m) {
  isFirst = true;
  do
  :: takeOrEnd {
       if
       :: !mayTake(m) -> only(GOAL_HANDLED_BY_ANOTHER_THREAD, assert(m != INLINE);) isScheduled[m] = false; break
       :: mayTake(m) && empty(letters[m]) -> atomic { isClaimed[m] = false; isScheduled[m] = false; break }
       :: mayTake(m) && nempty(letters[m]) -> atomic { isClaimed[m] = true; takeAll(m) }
       fi
     };
     isFirst = false; handle(m)
  od
}

/* PostOffice.handleLetters, in the home. */
inline handleLetters() {
  atomic { isFirst = !isClaimed[HOME]; isClaimed[HOME] = true };
  when(isFirst,
    takeAll(HOME); handle(HOME);
    atomic { isClaimed[HOME] = false; schedule(HOME, starts[HOME]); jobs = jobs + starts[HOME] })
}

/* PostOffice.keep. */
inline post(q, isHere) {
  only(MUTANT_AUDIENCE_NOT_ASKED_AGAIN, atomic { seen[0] = number[0]; seen[1] = number[1] + number[2] };)
  keepAndLeave {
    unless(MUTANT_KEPT_AFTERWARDS, keep(q);)
    atomic {
      order[q] = count; count++; all = all | (1 << q);
      unless(MUTANT_AUDIENCE_NOT_ASKED_AGAIN, seen[0] = number[0]; seen[1] = number[1] + number[2];)
      starts[INLINE] = false; starts[HOME] = false;
      when(seen[INLINE] != 0, letters[INLINE]!q,nextNumber,EVERYONE; schedule(INLINE, starts[INLINE]));
      when(seen[HOME] != 0, letters[HOME]!q,nextNumber,EVERYONE);
      when(!isHere, schedule(HOME, starts[HOME]); jobs = jobs + starts[HOME]);
      seen[0] = 0; seen[1] = 0; nextNumber++
    };
    only(MUTANT_KEPT_AFTERWARDS, keep(q))
  };
  when(isHere, handleLetters());
  when(starts[INLINE], drain(INLINE));
  assert(number[INLINE] == 0 || (heard >> q) & 1 || isClaimed[INLINE])
}

inline keep(q) { atomic { kept = q; keptNumber = nextNumber } }

proctype Poster(bool isHere; byte one; byte other) {
  byte p, n, to, seen[2]; bool isFirst, starts[2]; chan batch = [6] of { byte, byte, byte };
  post(one, isHere); when(other != 0, post(other, isHere))
}

/* What PostOffice.begin does after unlocking. */
inline begin(m) { if :: m == INLINE && starts[INLINE] -> drain(INLINE) :: else fi }

/* TopicList.place. */
inline observe(o) {
  placeAndLeave {
    atomic {
      number[o] = nextNumber; nextNumber++; next[o] = (kept != 0 -> order[kept] : count);
      when(o == INLINE, heard = all); p = kept; n = keptNumber
    };
    atomic {
      when(p != 0, letters[mailbox(o)]!p,n,o);
      schedule(mailbox(o), starts[mailbox(o)]); jobs = jobs + starts[HOME]
    }
  };
  begin(mailbox(o))
}

/* TopicList.replaceHandler. */
inline replace(o) {
  atomic {
    when(count != 0 && next[o] == count, next[o]--);
    only(GOAL_REPLACED_WHILE_IT_WAITS, assert(next[o] >= count - 1);)
    mustBegin = kept != 0 && (lastKept[o] == keptNumber || is(MUTANT_LAST_KEPT_NOT_COMPARED));
    when(mustBegin && !is(MUTANT_NOTHING_FOR_A_REPLACEMENT),
      unless(MUTANT_LAST_KEPT_NOT_RESET, lastKept[o] = 0;) letters[o]!kept,keptNumber,o);
    schedule(o, starts[o]); jobs = jobs + starts[HOME]
  };
  begin(o)
}

proctype Observer() {
  byte p, n, to; bool isFirst, mustBegin, starts[2]; chan batch = [6] of { byte, byte, byte };
  if :: observe(INLINE); replace(INLINE); replace(INLINE) :: observe(LATE); replace(HOME); replace(HOME) fi
}

proctype Home() {
  byte p, n, to; bool isFirst; chan batch = [6] of { byte, byte, byte };
end: do :: atomic { jobs > 0 -> jobs-- }; drain(HOME) od
}

init {
  atomic {
    number[HOME] = nextNumber; nextNumber++;
    run Poster(true, 1, 2); run Poster(false, 3, 0); run Observer(); run Home()
  };
  /* Nothing is active. */
  timeout ->
  atomic {
    assert(next[HOME] == count && (number[INLINE] == 0 || next[INLINE] == count));
    assert(number[LATE] == 0 || next[LATE] == count);
    assert(empty(letters[0]) && empty(letters[1]));
    assert(!isScheduled[0] && !isScheduled[1] && !isClaimed[0] && !isClaimed[1])
  }
}
