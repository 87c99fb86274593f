/*
 * A topic that keeps its latest message: observers are added while other threads post.
 *
 * Follows TopicList (place, leave), TopicObserver (take, isOpen, enqueue, handleQueue, closeEmptyQueue), and
 * PostOffice (deliver, leave) for a post that is kept.
 *
 * Claims
 *   1. An observer first receives the post that is kept when it is added, and none that was kept before.
 *   2. It receives every post that is kept later, once.
 *   3. It receives the posts of one thread in their order.
 *   4. Every post ends.
 *   5. A post made by a handler that is called from its queue leaves after the post that the handler receives.
 *
 * One thread posts twice, another one once. An observer without a home and one that lives elsewhere are added.
 */

#include "variants.h"

#define POSTS      3
#define HOMELESS   0
#define AT_HOME    1
#define has(o, p)  ((got[o] >> (p)) & 1)

bool office;                           /* the office's lock */
byte kept;                             /* the post that is kept; 0 if there is none */
byte nextNumber = 1;                   /* of registrations */
byte number[2];                        /* of each observer; 0 until it is placed */

/* The observer without a home. */
bool hasQueue = true;
chan queue = [POSTS + 1] of { byte };

/* The other observer's home: a post, and the limit of its letter. */
chan letters = [POSTS + 1] of { byte, byte };

byte got[2];                           /* by observer: a bit for each post */
byte due[2];                           /* by observer: a bit for each post that it must receive */
byte first[2];                         /* by observer: the post that was kept when it was placed */
byte left;                             /* a bit for each post that has left */

inline receive(o, p) {
  d_step {
    assert(!has(o, p));
    assert(first[o] == 0 || p == first[o] || has(o, first[o]));
    assert(p != 1 || !has(o, 2));
    got[o] = got[o] | (1 << p)
  }
}

/* TopicObserver.take, in a box of the walk. The next step of the post enqueues it if it must wait. */
inline call(p) {
  atomic {
    if
    :: hasQueue -> isQueued = true
    :: else -> receive(HOMELESS, p)
    fi
  }
}

/* PostOffice.deliver. */
inline post(p) {
  /* beginWalk */
  seen = nextNumber;
  isQueued = false;
  when(number[HOMELESS] != 0 && number[HOMELESS] < seen, call(p));
  do
  :: /* leave */
     only(MUTANT_QUEUED_BEFORE_IT_LEAVES, atomic { when(isQueued && hasQueue, queue!p; isQueued = false) };)
     acquire(office);
     now = nextNumber;
     if
     :: isQueued && !hasQueue ->
        /* takeClosedQueues */
        only(GOAL_QUEUE_HAD_ENDED, assert(false);)
        office = false;
        isQueued = false;
        call(p)
     :: !(isQueued && !hasQueue) && now != seen && !is(MUTANT_LATECOMERS_NOT_CALLED) ->
        office = false;
        when(number[HOMELESS] >= seen && number[HOMELESS] < now, call(p));
        seen = now
     :: else ->
        when(isQueued, queue!p; isQueued = false);
        when(number[AT_HOME] != 0, letters!p,seen);
        atomic {
          kept = p;
          left = left | (1 << p);
          when(number[HOMELESS] != 0, due[HOMELESS] = due[HOMELESS] | (1 << p));
          when(number[AT_HOME] != 0, due[AT_HOME] = due[AT_HOME] | (1 << p))
        };
        office = false;
        break
     fi
  od
}

proctype Poster(byte one; byte other) {
  byte seen, now;
  bool isQueued;
  post(one);
  when(other != 0, post(other))
}

/* Places an observer, and notes the posts that are due from then on. */
inline place(o) {
  atomic {
    first[o] = kept;
    when(kept != 0, due[o] = 1 << kept);
    number[o] = nextNumber;
    nextNumber++
  }
}

proctype Homeless() {
  byte p;
  unless(MUTANT_PLACED_WITHOUT_THE_LOCK, acquire(office);)
  p = kept;
  place(HOMELESS);
  /* enqueue */
  when(p != 0, queue!p);
  unless(MUTANT_PLACED_WITHOUT_THE_LOCK, office = false;)
  /* handleQueue */
  do
  :: queue?p ->
     receive(HOMELESS, p);
     /* It posts. */
     acquire(office);
     assert(p == first[HOMELESS] || (left >> p) & 1);
     office = false
  :: empty(queue) ->
     /* closeEmptyQueue */
     acquire(office);
     if
     :: empty(queue) -> hasQueue = false; office = false; break
     :: nempty(queue) ->
        only(MUTANT_QUEUE_CLOSED_WITHOUT_A_LOOK, hasQueue = false; office = false; break;)
        office = false
     fi
  od
}

proctype AtHome() {
  byte p, limit;
  acquire(office);
  place(AT_HOME);
  when(kept != 0, letters!kept,255);
  office = false;
end:
  do
  :: letters?p,limit ->
     when(number[AT_HOME] < limit, receive(AT_HOME, p))
  od
}

init {
  atomic {
    run Poster(1, 2);
    run Poster(3, 0);
    run Homeless();
    run AtHome()
  };
  /* Nothing is active. */
  timeout ->
  assert(got[HOMELESS] == due[HOMELESS] && got[AT_HOME] == due[AT_HOME]);
  only(GOAL_A_KEPT_POST_COMES_FIRST, assert(first[HOMELESS] == 0 || first[HOMELESS] == 2))
}
