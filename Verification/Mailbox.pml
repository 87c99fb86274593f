/*
 * Mailboxes: posts leave letters in several homes at once, which drains handle, and posts made at home.
 *
 * Follows Mailbox (put, schedule, claim, release, take, takeBatch, endTurn, drainForATurn) and PostOffice
 * (deliverAtHome, claimHomes, handleWaiting, handle, perform, follow). The office's lock is held for one step.
 * Claims
 *   1. Every post reaches everybody once: the homes, and the clients without one.
 *   2. One thread at a time calls in a home.
 *   3. The posts of one thread reach a home in their order.
 *   4. Nobody receives an effect before its cause.
 *   5. A post made at home is called after the letters that wait there, and before it returns, unless another
 *      thread has claimed the home.
 *   6. Letters wait only where a drain is scheduled or a thread has claimed the home. At the end, none wait.
 *
 * One thread posts twice, to everybody. The first home is a concurrent queue of two threads, one of which posts,
 * too; its client answers that post. The second home's client answers the other thread's first post.
 */

#include "variants.h"
#define HOMELESS  2   /* the place of clients without a home, and of a thread that is in no home */
#define FIRST     1   /* the thread's posts */
#define SECOND    2
#define ANSWER    3   /* posted by home 1 in the call of FIRST */
#define AT_HOME   4   /* posted in home 0 */
#define EFFECT    5   /* posted by home 0 in the call of AT_HOME */
#define LETTERS   5
#define TURN      2   /* letters before a drain yields */

chan letters[2] = [LETTERS] of { byte };
bool isScheduled[2], isClaimed[2];
byte jobs[2];         /* started drains */
byte callers[2];
byte had[3];          /* by place: a bit for each post that was called there */
#define hasHad(h, p)  ((had[h] >> (p)) & 1)

/* One step with the lock held, unless a mutant splits it. */
#define takeOrEnd choose(MUTANT_END_IN_TWO_STEPS, , atomic)
#define leaveAll choose(MUTANT_LEFT_ONE_BY_ONE, , atomic)

/* Calls the clients of a place with a post. */
inline call(h, p) {
  when(h != HOMELESS, atomic { callers[h]++; assert(callers[h] == 1) });
  atomic {
    assert(!hasHad(h, p)); assert(p != SECOND || h == HOMELESS || hasHad(h, FIRST));
    assert(p != ANSWER || hasHad(h, FIRST)); assert(p != EFFECT || hasHad(h, AT_HOME));
    had[h] = had[h] | (1 << p)
  };
  when(h != HOMELESS, callers[h]--)
}

/* Mailbox.schedule and startDrain. A drain may run at any time after that. */
inline schedule(h) {
  when(!isClaimed[h] && !isScheduled[h] && nempty(letters[h]), isScheduled[h] = true; jobs[h]++)
}

inline putIn(h, p) { atomic { letters[h]!p; schedule(h) } }
inline assertNoneStranded(h) { assert(empty(letters[h]) || isScheduled[h] || isClaimed[h]) }

/* The second step of a post: letters in all homes except a claimed one, which it releases. */
inline leave(p, claimed) {
  leaveAll {
    when(claimed != 1, putIn(1, p)); when(claimed != 0, putIn(0, p));
    atomic {
      when(claimed != HOMELESS,
        isClaimed[claimed] = false;
        only(GOAL_DRAIN_STARTED_AT_HOME, assert(isScheduled[claimed] || empty(letters[claimed]));)
        unless(MUTANT_LETTERS_FORGOTTEN_AT_HOME, schedule(claimed)));
      when(!is(MUTANT_LEFT_ONE_BY_ONE), assertNoneStranded(0); assertNoneStranded(1))
    }
  }
}

/* PostOffice.deliverAtHome, on a thread that runs in `here`. */
inline deliver(p, here) {
  claimed = HOMELESS;
  atomic {
    when(here != HOMELESS && (is(MUTANT_CALLED_BESIDE_A_DRAIN) || !isClaimed[here]),
      isClaimed[here] = true; claimed = here; waited = len(letters[here]))
  };
  unless(MUTANT_CALLED_BEFORE_WHAT_WAITED, handleWaiting();)
  only(MUTANT_LETTERS_BEFORE_CALLS, leave(p, HOMELESS);)
  call(HOMELESS, p);
  when(claimed != HOMELESS, assert(waited == 0); call(claimed, p));
  only(MUTANT_ANSWERED_AT_ONCE, when(p == AT_HOME, leave(EFFECT, HOMELESS));)
  unless(MUTANT_LETTERS_BEFORE_CALLS, leave(p, claimed))
}

/* Letters that are handled inside of a post. None of them is answered here. */
inline handleWaiting() {
  when(claimed != HOMELESS,
    atomic { do :: letters[claimed]?letter -> batch!letter :: empty(letters[claimed]) -> break od };
    do :: batch?letter -> when(waited > 0, waited--); call(claimed, letter) :: empty(batch) -> break od)
}

proctype Poster() {
  byte letter, claimed, waited; chan batch = [1] of { byte };
  deliver(FIRST, HOMELESS); deliver(SECOND, HOMELESS)
}

proctype Home(byte h; bool posts) {
  byte letter, handled, claimed, waited, answer; bool goesOn; chan batch = [LETTERS] of { byte };
end: do
  :: atomic { jobs[h] > 0 -> jobs[h]-- };
     /* drainForATurn */
     handled = 0; goesOn = true;
     do
     :: goesOn ->
        takeOrEnd { /* takeBatch */
          if
          :: handled == 0 && isClaimed[h] && !is(MUTANT_DRAINED_BESIDE_A_CALL) ->
             unless(MUTANT_REFUSED_AND_STILL_SCHEDULED, isScheduled[h] = false;)
             only(GOAL_DRAIN_REFUSED, assert(false);) goesOn = false
          :: else -> goesOn = nempty(letters[h]);
             atomic {
               isClaimed[h] = goesOn; when(!goesOn, isScheduled[h] = false);
               do
               :: handled < TURN && nempty(letters[h]) -> letters[h]?letter; batch!letter; handled++
               :: else -> letter = 0; break
               od
             }
          fi
        };
        do
        :: batch?letter -> call(h, letter);
           answer = (h == 1 && letter == FIRST -> ANSWER : (letter == AT_HOME && h == 0 -> EFFECT : 0));
           /* It follows. This thread has claimed the home. */
           when(answer != 0, deliver(answer, h))
        :: empty(batch) -> break
        od;
        when(goesOn && handled == TURN,
          atomic { isClaimed[h] = false; jobs[h]++; goesOn = false };
          only(GOAL_TURN_ENDED, assert(h == 1);) skip)
     :: else -> break
     od
  :: posts -> posts = false; deliver(AT_HOME, 0);
     /* Its client has answered if it was called. Otherwise a drain delivers the answer. */
     when(claimed == 0, deliver(EFFECT, 0))
  od
}

init {
  atomic { run Poster(); run Home(0, true); run Home(0, false); run Home(1, false) };
  /* Nothing is active. */
  timeout ->
  assert(had[0] == 62 && had[1] == 62 && had[2] == 62);
  assert(!isScheduled[0] && !isScheduled[1] && !isClaimed[0] && !isClaimed[1])
}
