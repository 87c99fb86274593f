/*
 * Walks without a lock, while other threads vacate, compact, copy and free the storage.
 *
 * Follows ClientList (beginWalk, endWalk, add, findAlive, makeRoom, replaceCurrent, makeSuccessor, installSuccessor,
 * reclaim, remove, vacate), ClientSuccessor.advance, ClientGeneration (append, vacate, compact, dropCompanions),
 * WeakBox (vacate, takeCount, countOut) and Walk.
 * Claims
 *   1. During a walk, its boxes are vacated at most, and not moved, freed or written otherwise.
 *   2. A walk calls the clients registered when it began, in order, each once, and no others. It skips only
 *      those that are deallocated or being removed, and calls none whose removal has returned.
 *   3. When no walk is active, all retired memory has been freed, every companion of a removed client has been
 *      released, and most boxes are in use.
 *   4. The counts of vacated boxes and of a home's clients are correct then.
 *   5. A client has one box with its address, also where it has that of a deallocated one.
 *
 * Three threads: one walks, two others walk, remove or add. A client is deallocated at any time, and the added
 * one may get its address. A list of three clients, short or longer than a step, with and without companions.
 */

#include "variants.h"
#define BOXES        4
#define GENERATIONS  4
#define LATECOMER    4   /* the added client; 1 to 3 exist from the beginning */
#define NONE         9
#define at(g, i)     ((g) * BOXES + (i))
#define isWalked(g)  (begun[g] != ended[g])
#define isSparse(g)  (2 * vacated[g] > count[g])
#define areRetired   (life[0] == retired || life[1] == retired || life[2] == retired || life[3] == retired)
#define currentNeedsReclaiming (isSparse(current) || lingers[current])

mtype = { walk, remove, add };
mtype:life = { unused, live, retired, freed };

bool companions;                       /* whether the list has companions */
byte step;                             /* the length of a short list, and of a step */

/* Boxes. A client is its number, in the order of registration. */
byte client[GENERATIONS * BOXES], companion[GENERATIONS * BOXES];
bool identity[GENERATIONS * BOXES], counted[GENERATIONS * BOXES];

/* Generations. */
mtype:life life[GENERATIONS] = unused;
byte count[GENERATIONS], begun[GENERATIONS], ended[GENERATIONS], vacated[GENERATIONS];
bool lingers[GENERATIONS];
byte written[GENERATIONS];             /* how often boxes were moved, written or freed */

/* The list. */
bool locked, needsReclaiming;
byte current, successor = NONE, copied, limit = 3;
byte made = 1;                         /* generations */
byte residents;                        /* the count of a home, where all clients live */
bool reuses;                           /* whether the added client has the address of client 1 */

byte references[LATECOMER + 1];        /* to companions */
bool alive[LATECOMER + 1], isBeingRemoved[LATECOMER + 1], isRemoved[LATECOMER + 1];

inline release(x, b) {
  when(companion[at(x, b)] != 0,
    assert(references[companion[at(x, b)]] > 0);
    references[companion[at(x, b)]]--; companion[at(x, b)] = 0)
}

inline free(x) { d_step { life[x] = freed; written[x]++; for (j : 0 .. count[x] - 1) { release(x, j) } j = 0 } }

/* One atomic instruction, unless a mutant splits it. */
#define exchange choose(MUTANT_VACATED_TWICE, , atomic)
#define takeBit choose(MUTANT_COUNTED_OUT_TWICE, , atomic)

/* WeakBox.countOut. */
inline countOut(x, b) {
  takeBit { was = counted[at(x, b)]; atomic { counted[at(x, b)] = false; residents = residents - was } }
}

/* WeakBox.vacate. The result is in `did`. */
inline vacateBox(x, b) {
  exchange { did = identity[at(x, b)]; identity[at(x, b)] = false };
  when(did, vacated[x]++; countOut(x, b))
}

/* ClientGeneration.find, by the address of client c. */
inline find(x) {
  i = 0;
  do :: i < count[x] && (!identity[at(x, i)] || client[at(x, i)] != c) -> i++ :: else -> break od
}

/* ClientGeneration.find and vacate. */
inline vacate(x) {
  atomic { find(x) };
  when(i < count[x],
    vacateBox(x, i);
    when(did && companions,
      if unless(MUTANT_COMPANION_RELEASED_AT_ONCE, :: isWalked(x) -> lingers[x] = true)
      :: else -> d_step { release(x, i); written[x]++ } fi))
}

/* ClientList.vacate. */
inline vacateEverywhere() {
  unless(MUTANT_REMOVED_IN_THE_CURRENT_ONE_ONLY,
    for (g : 0 .. made - 1) { when(life[g] == retired || g == successor, vacate(g)) })
  vacate(current)
}

/* ClientGeneration.append. */
inline append(x, who, note) {
  d_step {
    client[at(x, count[x])] = who; identity[at(x, count[x])] = true; counted[at(x, count[x])] = true;
    residents++; companion[at(x, count[x])] = note; when(note != 0, references[note]++); count[x]++
  }
}

/* ClientGeneration.compact, one step, because no walk is active. */
inline compact() {
  d_step {
    j = 0;
    for (i : 0 .. count[current] - 1) {
      if
      :: identity[at(current, i)] ->
         when(i != j,
           client[at(current, j)] = client[at(current, i)]; companion[at(current, j)] = companion[at(current, i)];
           counted[at(current, j)] = counted[at(current, i)]; identity[at(current, j)] = true;
           companion[at(current, i)] = 0);
         j++
      :: else -> release(current, i)
      fi
    }
    count[current] = j; vacated[current] = 0; lingers[current] = false; written[current]++; limit = BOXES;
    i = 0; j = 0
  }
}

/* ClientSuccessor.advance. */
inline advance(most) {
  end = (most < count[current] - copied -> copied + most : count[current]);
  do
  :: copied < end ->
     atomic { /* A deallocated client is copied, too. */
       when(is(MUTANT_VACATED_COPIED) || identity[at(current, copied)],
         append(successor, client[at(current, copied)], companion[at(current, copied)]))
     };
     countOut(current, copied); copied++
  :: else -> break
  od
}

inline installSuccessor() {
  when(successor != NONE,
    advance(BOXES);
    atomic { i = current; current = successor; successor = NONE; copied = 0; limit = BOXES };
    if unless(MUTANT_RETIRED_FREED_AT_ONCE, :: isWalked(i) -> life[i] = retired; only(GOAL_RETIRED, assert(false)))
    :: else -> free(i) fi)
}

inline beginSuccessor() {
  d_step { assert(made < GENERATIONS); successor = made; made++; life[successor] = live; hasBegun = true }
}

inline replaceCurrent() {
  when(successor == NONE,
    if
    :: count[current] <= step && (is(MUTANT_COMPACTED_UNDER_A_WALK) || !isWalked(current)) -> compact();
       only(GOAL_COMPACTED, assert(false);)
    :: else -> beginSuccessor(); when(count[current] <= step, installSuccessor())
    fi)
}

inline reclaim() {
  when(currentNeedsReclaiming || areRetired || needsReclaiming,
    unless(MUTANT_ANNOUNCED_AFTER_THE_LOOK, needsReclaiming = true;)
    atomic { for (g : 0 .. made - 1) { when(life[g] == retired && !isWalked(g), free(g)) } g = 0 };
    when(currentNeedsReclaiming && successor == NONE && !isWalked(current),
      if
      :: isSparse(current) -> replaceCurrent()
      :: else ->
         d_step {
           for (i : 0 .. count[current] - 1) { when(!identity[at(current, i)], release(current, i)) }
           i = 0; lingers[current] = false; written[current]++
         }
      fi);
    if :: !areRetired && !currentNeedsReclaiming -> needsReclaiming = false
    choose(MUTANT_ANNOUNCED_AFTER_THE_LOOK, :: else -> needsReclaiming = true, :: else) fi)
}

proctype Thread(mtype task; byte c) {
  byte g, i, j, end, n, members, last, seen; bool did, was, hasBegun, isAdded, foundDead;
  if
  :: task == walk ->
     /* ClientList.beginWalk */
     choose(MUTANT_BEGUN_WITHOUT_THE_LOCK, g = current; atomic {, atomic { !locked -> g = current;)
       begun[g]++; n = count[g]; seen = written[g];
       for (i : 0 .. n - 1) { members = members | (identity[at(g, i)] << client[at(g, i)]) }
       i = 0
     };
     do
     :: i < n ->
        /* Walk.next, WeakBox.load */
        atomic {
          assert(written[g] == seen); c = client[at(g, i)]; did = identity[at(g, i)];
          assert(did -> !isRemoved[c] : !(members & (1 << c)) || isBeingRemoved[c] || !alive[c])
        };
        if
        :: did && alive[c] -> assert((members & (1 << c)) && last < c); last = c;
           /* The call, with the companion. */
           atomic { assert(written[g] == seen); assert(!companions || references[companion[at(g, i)]] > 0) }
        :: did && !alive[c] -> vacateBox(g, i); foundDead = foundDead || did /* Walk.noteDead */
        :: else
        fi;
        i++
     :: else -> break
     od;
     assert(written[g] == seen);
     /* ClientList.endWalk */
     when(foundDead,
       acquire(locked);
       when(current == g, lingers[g] = companions; when(currentNeedsReclaiming, needsReclaiming = true));
       locked = false);
     choose(MUTANT_END_LOOKS_FIRST, did = needsReclaiming; ended[g]++;, ended[g]++; did = needsReclaiming;)
     if :: !did -> goto done :: else -> acquire(locked) fi;
     when(isSparse(current) && isWalked(current), only(GOAL_WALKS_OVERLAP, assert(false);) replaceCurrent())
  :: task == remove -> acquire(locked); isBeingRemoved[c] = true; vacateEverywhere()
  :: task == add -> !reuses || !alive[c];
adding:
     acquire(locked);
     atomic { /* ClientList.findAlive */ find(current); did = i < count[current] };
     when(did || successor != NONE && !is(MUTANT_COPIES_NOT_SEARCHED), vacateEverywhere(); reclaim());
     if
     :: successor != NONE || count[current] < limit ->
        append(current, LATECOMER, (companions -> LATECOMER : 0)); isAdded = true; goto leave
     :: else -> /* ClientList.makeRoom, after its walk */
        if :: vacated[current] == 0 -> limit = BOXES; goto leave :: else -> replaceCurrent() fi;
        only(MUTANT_NOTHING_RECLAIMED_TO_MAKE_ROOM, goto leave)
     fi
  fi;
reclaiming:
  reclaim();
leave:
  locked = false;
  isRemoved[c] = isRemoved[c] || task == remove;
  /* ClientList.makeSuccessor */
  do
  :: hasBegun -> acquire(locked);
     if
     :: successor == NONE -> hasBegun = false; locked = false
     :: else -> advance(step);
        if
        :: copied == count[current] -> installSuccessor(); goto reclaiming
        :: else -> only(GOAL_COPIED_IN_STEPS, assert(false);) locked = false
        fi
     fi
  :: else -> break
  od;
  when(task == add && !isAdded, goto adding);
done: skip
}

/* The client may be deallocated at any time, or stay. */
proctype Death(byte c) { alive[c] = false }

init {
  byte i, boxes; bool isShadowed;
  atomic {
    select(companions : 0 .. 1); select(step : 2 .. 3);
    life[0] = live;
    for (i : 1 .. 3) {
      client[at(0, i - 1)] = i; identity[at(0, i - 1)] = true; counted[at(0, i - 1)] = true;
      companion[at(0, i - 1)] = (companions -> i : 0); references[i] = companions; alive[i] = true
    }
    count[0] = 3; residents = 3; alive[LATECOMER] = true;
    run Thread(walk, 0);
    if
    :: run Death(3); run Thread(walk, 0); if :: run Thread(remove, 3) :: run Thread(add, LATECOMER) fi
    :: run Death(3); run Thread(remove, 1); if :: run Thread(remove, 2) :: run Thread(add, LATECOMER) fi
    :: /* Client 2 has been removed. */
       identity[1] = false; counted[1] = false; companion[1] = 0; references[2] = 0; vacated[0] = 1;
       residents = 2; isBeingRemoved[2] = true; isRemoved[2] = true; reuses = true;
       run Death(1); run Thread(remove, 3); if :: run Thread(add, 1) :: run Thread(walk, 0) fi
    fi
  };
  /* The other threads have ended. */
  _nr_pr == 1;
  atomic {
    assert(!areRetired && successor == NONE && !isSparse(current) && !lingers[current]);
    for (i : 0 .. count[current] - 1) {
      isShadowed = isShadowed || reuses && identity[at(current, i)] && client[at(current, i)] == 1;
      assert(!isShadowed || client[at(current, i)] != LATECOMER || !identity[at(current, i)]);
      boxes = boxes + identity[at(current, i)];
      if
      :: companion[at(current, i)] != 0 -> assert(identity[at(current, i)]); references[companion[at(current, i)]]--
      :: else -> assert(!identity[at(current, i)] || !companions)
      fi
    }
    assert(boxes == residents && boxes + vacated[current] == count[current]);
    for (i : 1 .. LATECOMER) { assert(references[i] == 0) }
  }
}
