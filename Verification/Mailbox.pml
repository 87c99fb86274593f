/*
 * Mailboxes: letters are left in several homes at once and drained there; posts are made at home.
 *
 * Follows Mailbox (put, drainForATurn, beginCalling, next, enter, leave, handle) and the three steps of
 * PostOffice.deliver and follow.
 *
 * Claims
 *   1. Every post reaches every home once. No letter remains at the end.
 *   2. One thread at a time calls in a home.
 *   3. The posts of one thread reach a home in their order.
 *   4. No home receives an effect before its cause.
 *   5. A post made at home is called after the waiting letters, and before it returns, unless another thread
 *      is calling there.
 *
 * One thread posts twice, to both homes. The first home is a concurrent queue of two threads, one of which
 * posts too. The second home answers the first post with another one. No handler moves, so letters have the
 * order of their numbers: see Move.pml.
 */

#include "variants.h"

#define LETTERS   4
#define FIRST     1   /* the thread's posts */
#define SECOND    2
#define ANSWER    3   /* posted by home 1 in the call of FIRST */
#define AT_HOME   4   /* posted in home 0 */
#define TURN      2   /* letters before a drain yields */

chan incoming[2] = [LETTERS] of { byte };
chan outgoing[2] = [LETTERS] of { byte };
bool isScheduled[2], isCalling[2];
bool office;                  /* the office's lock */

byte jobs[2];                 /* started drains */
byte callers[2];
byte had[2];                  /* by home: a bit for each post that was called there */
#define hasHad(h, p)  ((had[h] >> (p)) & 1)

/* One step, unless a mutant splits it. */
#define takeOverOrEnd choose(MUTANT_END_IN_TWO_STEPS, , atomic)

/* Calls the clients of a home with a post. */
inline call(h, p) {
  atomic { callers[h]++; assert(callers[h] == 1) };
  atomic {
    assert(!hasHad(h, p));
    assert(p != SECOND || hasHad(h, FIRST));
    assert(p != ANSWER || hasHad(h, FIRST));
    had[h] = had[h] | (1 << p)
  };
  callers[h]--
}

/* Mailbox.put. The mailbox's lock is held for one step. */
inline put(h, p) {
  atomic {
    incoming[h]!p;
    start[h] = !isScheduled[h];
    isScheduled[h] = true
  }
}

/* The second step of a post: leaves letters in all homes except one, and starts drains. */
inline leaveLetters(p, but) {
  unless(MUTANT_LEFT_WITHOUT_THE_LOCK, acquire(office);)
  when(but != 1, put(1, p));
  when(but != 0, put(0, p));
  unless(MUTANT_LEFT_WITHOUT_THE_LOCK, office = false;)
  atomic { jobs[0] = jobs[0] + start[0]; jobs[1] = jobs[1] + start[1]; start[0] = 0; start[1] = 0 }
}

/* Mailbox.handle. The posts of the call follow as letters, in this home too. */
inline handle(h, p) {
  call(h, p);
  when(h == 1 && p == FIRST, leaveLetters(ANSWER, 9))
}

/* Outgoing.takeOver. */
inline takeOver(h) {
  do
  :: incoming[h]?letter -> outgoing[h]!letter
  :: empty(incoming[h]) -> break
  od
}

/* Outgoing.popNext. 0 if there is none. */
inline popNext(h) {
  letter = 0;
  if
  :: outgoing[h]?letter
  :: empty(outgoing[h])
  fi
}

proctype Poster() {
  bool start[2];
  leaveLetters(FIRST, 9);
  leaveLetters(SECOND, 9)
}

proctype Home(byte h; bool posts) {
  byte letter, handled, waiting;
  bool start[2], goesOn;

end:
  do
  :: atomic { jobs[h] > 0 -> jobs[h]-- };
     /* drainForATurn, beginCalling */
     atomic {
       goesOn = !isCalling[h] || is(MUTANT_DRAINED_BESIDE_A_CALL);
       if
       :: goesOn -> isCalling[h] = true
       :: else ->
          unless(MUTANT_REFUSED_AND_STILL_SCHEDULED, isScheduled[h] = false;)
          only(GOAL_DRAIN_REFUSED, assert(false);)
          skip
       fi
     };
     handled = 0;
     do
     :: !goesOn -> break
     :: goesOn && handled == TURN ->
        /* The drain yields. */
        isCalling[h] = false;
        jobs[h]++;
        only(GOAL_TURN_ENDED, assert(h == 1);)
        break
     :: goesOn && handled < TURN ->
        /* next */
        atomic { popNext(h) };
        when(letter == 0,
          unless(MUTANT_END_IN_TWO_STEPS, acquire(office);)
          takeOverOrEnd {
            atomic { takeOver(h); popNext(h) };
            when(letter == 0, isScheduled[h] = false; isCalling[h] = false; goesOn = false)
          };
          unless(MUTANT_END_IN_TWO_STEPS, office = false));
        when(letter != 0, handle(h, letter); handled++)
     od

  :: posts ->
     posts = false;
     /* enter */
     acquire(office);
     atomic {
       goesOn = is(MUTANT_CALLED_BESIDE_A_DRAIN) || !isCalling[h];
       when(goesOn, isCalling[h] = true; takeOver(h); waiting = len(outgoing[h]))
     };
     office = false;
     if
     :: goesOn ->
        do
        :: waiting > 0 && !is(MUTANT_CALLED_BEFORE_WHAT_WAITED) ->
           atomic { popNext(h) }; handle(h, letter); waiting--
        :: else -> break
        od;
        atomic { assert(empty(outgoing[h])) };
        call(h, AT_HOME);
        leaveLetters(AT_HOME, h);
        /* leave */
        atomic {
          isCalling[h] = false;
          when(!isScheduled[h] && len(incoming[h]) + len(outgoing[h]) > 0 && !is(MUTANT_LETTERS_FORGOTTEN_AT_HOME),
            isScheduled[h] = true; jobs[h]++;
            only(GOAL_DRAIN_STARTED_AT_HOME, assert(false);)
            skip)
        }
     :: else -> leaveLetters(AT_HOME, 9)
     fi
  od
}

init {
  atomic {
    run Poster();
    run Home(0, true);
    run Home(0, false);
    run Home(1, false)
  };
  /* Nothing is active. */
  timeout ->
  assert(had[0] == 30 && had[1] == 30);
  assert(!isScheduled[0] && !isScheduled[1] && !isCalling[0] && !isCalling[1])
}
