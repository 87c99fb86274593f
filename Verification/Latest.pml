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

inline lockOffice() { atomic { !office -> office = true } }

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
  if
  :: number[HOMELESS] != 0 && number[HOMELESS] < seen -> call(p)
  :: else
  fi;
  do
  :: /* leave */
#ifdef MUTANT_QUEUED_BEFORE_IT_LEAVES
     atomic {
       if
       :: isQueued && hasQueue -> queue!p; isQueued = false
       :: else
       fi
     };
#endif
     lockOffice();
     now = nextNumber;
     if
     :: isQueued && !hasQueue ->
        /* takeClosedQueues */
#ifdef GOAL_QUEUE_HAD_ENDED
        assert(false);
#endif
        office = false;
        isQueued = false;
        call(p)
#ifndef MUTANT_LATECOMERS_NOT_CALLED
     :: !(isQueued && !hasQueue) && now != seen ->
        office = false;
        if
        :: number[HOMELESS] >= seen && number[HOMELESS] < now -> call(p)
        :: else
        fi;
        seen = now
#endif
     :: else ->
        if
        :: isQueued -> queue!p; isQueued = false
        :: else
        fi;
        if
        :: number[AT_HOME] != 0 -> letters!p,seen
        :: else
        fi;
        atomic {
          kept = p;
          left = left | (1 << p);
          if :: number[HOMELESS] != 0 -> due[HOMELESS] = due[HOMELESS] | (1 << p) :: else fi;
          if :: number[AT_HOME] != 0 -> due[AT_HOME] = due[AT_HOME] | (1 << p) :: else fi
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
  if
  :: other != 0 -> post(other)
  :: else
  fi
}

/* The posts that are due from the placement on. */
inline notePlacement(o) {
  first[o] = kept;
  if
  :: kept != 0 -> due[o] = 1 << kept
  :: else
  fi
}

proctype Homeless() {
  byte p, others;
#ifndef MUTANT_PLACED_WITHOUT_THE_LOCK
  lockOffice();
#endif
  p = kept;
  atomic {
    notePlacement(HOMELESS);
    number[HOMELESS] = nextNumber;
    nextNumber++
  };
  /* enqueue */
  if
  :: p != 0 -> queue!p
  :: else
  fi;
#ifndef MUTANT_PLACED_WITHOUT_THE_LOCK
  office = false;
#endif
  /* handleQueue */
  do
  :: queue?p ->
     receive(HOMELESS, p);
     /* It posts. */
     lockOffice();
     assert(p == first[HOMELESS] || (left >> p) & 1);
     office = false
  :: empty(queue) ->
     /* closeEmptyQueue */
#ifndef MUTANT_QUEUE_CLOSED_WITHOUT_A_LOOK
     lockOffice();
     if
     :: empty(queue) -> hasQueue = false; office = false; break
     :: nempty(queue) -> office = false
     fi
#else
     hasQueue = false;
     break
#endif
  od
}

proctype AtHome() {
  byte p, limit;
  lockOffice();
  atomic {
    notePlacement(AT_HOME);
    number[AT_HOME] = nextNumber;
    nextNumber++
  };
  if
  :: kept != 0 -> letters!kept,255
  :: else
  fi;
  office = false;
end:
  do
  :: letters?p,limit ->
     if
     :: number[AT_HOME] < limit -> receive(AT_HOME, p)
     :: else
     fi
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
#ifdef GOAL_A_KEPT_POST_COMES_FIRST
  assert(first[HOMELESS] == 0 || first[HOMELESS] == 2)
#endif
}
