/*
 * Walks without a lock, while other threads vacate, compact, replace and free the storage.
 *
 * Follows ClientList (beginWalk, endWalk, makeRoom, replaceCurrent, makeSuccessor, installSuccessor, reclaim,
 * remove, replaceHandingOut), ClientSuccessor.advance, ClientGeneration (append, vacate, compact,
 * dropCompanions, replaceCompanion), WeakBox (vacate, takeCount, countOut) and Walk.
 *
 * Claims
 *   1. During a walk, its boxes are vacated at most, and not moved, freed or written otherwise.
 *   2. A walk calls the clients registered when it began, in order, each once, and no others. It skips only
 *      those that are deallocated or being removed, and calls none whose removal has returned.
 *   3. When no walk is active, all retired memory has been freed, every companion of a removed client has been
 *      released, and most boxes are in use.
 *   4. The counts of vacated boxes and of a group's clients are correct then.
 *
 * Three threads: one walks, two others walk, remove, add or replace a companion. A client is deallocated at any
 * time. A list of three clients, short or longer than a step, with and without companions.
 */

#define BOXES        4
#define GENERATIONS  4
#define LATECOMER    4   /* the added client; 1 to 3 exist from the beginning */
#define NEW          5   /* the replacing companion */
#define NONE         9
#define at(g, i)     ((g) * BOXES + (i))
#define isWalked(g)  (begun[g] != ended[g])
#define isSparse(g)  (2 * vacated[g] > count[g])
#define areRetired   (life[0] == retired || life[1] == retired || life[2] == retired || life[3] == retired)
#define currentNeedsReclaiming (isSparse(current) || lingers[current])

mtype = { walk, remove, add, replace };
mtype:life = { unused, live, retired, freed };

bool companions;                       /* whether the list has companions */
byte step;                             /* the length of a short list, and of a step */

/* Boxes. A client is its number, in the order of registration. */
byte client[GENERATIONS * BOXES];
byte companion[GENERATIONS * BOXES];
bool identity[GENERATIONS * BOXES];
bool counted[GENERATIONS * BOXES];

/* Generations. */
mtype:life life[GENERATIONS] = unused;
byte count[GENERATIONS], begun[GENERATIONS], ended[GENERATIONS], vacated[GENERATIONS];
bool lingers[GENERATIONS];
byte written[GENERATIONS];             /* how often boxes were moved, written or freed */

/* The list. */
bool locked;
byte current;
byte successor = NONE, copied;
byte made = 1;                         /* generations */
byte limit = 3;
bool needsReclaiming;
byte group;                            /* the count of its clients */

byte references[NEW + 1];              /* to companions */
bool alive[NEW], isBeingRemoved[NEW], isRemoved[NEW];

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline release(x, b) {
  if
  :: companion[at(x, b)] != 0 ->
     assert(references[companion[at(x, b)]] > 0);
     references[companion[at(x, b)]]--; companion[at(x, b)] = 0
  :: else
  fi
}

inline free(x) {
  d_step {
    life[x] = freed; written[x]++;
    j = 0;
    do
    :: j < count[x] -> release(x, j); j++
    :: else -> break
    od;
    j = 0
  }
}

/* One atomic instruction, unless a mutant splits it. */
#ifdef MUTANT_VACATED_TWICE
#define exchange
#else
#define exchange atomic
#endif
#ifdef MUTANT_COUNTED_OUT_TWICE
#define takeBit
#else
#define takeBit atomic
#endif

/* WeakBox.countOut. */
inline countOut(x, b) {
  takeBit { was = counted[at(x, b)]; atomic { counted[at(x, b)] = false; group = group - was } }
}

/* WeakBox.vacate. The result is in `did`. */
inline vacateBox(x, b) {
  exchange { did = identity[at(x, b)]; identity[at(x, b)] = false };
  if
  :: did -> vacated[x]++; countOut(x, b)
  :: else
  fi
}

/* ClientGeneration.find and vacate of client c. */
inline vacate(x) {
  atomic {
    i = 0;
    do
    :: i < count[x] && client[at(x, i)] != c -> i++
    :: else -> break
    od
  };
  if
  :: i < count[x] ->
     vacateBox(x, i);
     if
     :: did && companions ->
        if
#ifndef MUTANT_COMPANION_RELEASED_AT_ONCE
        :: isWalked(x) -> lingers[x] = true
#endif
        :: else -> d_step { release(x, i); written[x]++ }
        fi
     :: else
     fi
  :: else
  fi
}

/* ClientGeneration.append. */
inline append(x, who, note) {
  d_step {
    client[at(x, count[x])] = who;
    identity[at(x, count[x])] = true;
    counted[at(x, count[x])] = true;
    group++;
    companion[at(x, count[x])] = note;
    if
    :: note != 0 -> references[note]++
    :: else
    fi;
    count[x]++
  }
}

/* ClientGeneration.compact, one step, because no walk is active. */
inline compact() {
  d_step {
    i = 0; j = 0;
    do
    :: i < count[current] ->
       if
       :: identity[at(current, i)] ->
          if
          :: i != j ->
             client[at(current, j)] = client[at(current, i)]; companion[at(current, j)] = companion[at(current, i)];
             counted[at(current, j)] = counted[at(current, i)]; identity[at(current, j)] = true;
             companion[at(current, i)] = 0
          :: else
          fi;
          j++
       :: else -> release(current, i)
       fi;
       i++
    :: else -> break
    od;
    count[current] = j; vacated[current] = 0; lingers[current] = false; written[current]++; limit = BOXES;
    i = 0; j = 0
  }
}

/* ClientSuccessor.advance. */
inline advance(most) {
  end = (most < count[current] - copied -> copied + most : count[current]);
  do
  :: copied < end ->
     atomic {
       if
#ifdef MUTANT_VACATED_COPIED
       :: alive[client[at(current, copied)]] ->
#else
       :: alive[client[at(current, copied)]] && identity[at(current, copied)] ->
#endif
          append(successor, client[at(current, copied)], companion[at(current, copied)])
       :: else
       fi
     };
     countOut(current, copied);
     copied++
  :: else -> break
  od
}

inline installSuccessor() {
  if
  :: successor != NONE ->
     advance(BOXES);
     atomic { i = current; current = successor; successor = NONE; copied = 0; limit = BOXES };
     if
#ifndef MUTANT_RETIRED_FREED_AT_ONCE
     :: isWalked(i) ->
        life[i] = retired;
#ifdef GOAL_RETIRED
        assert(false);
#endif
#endif
     :: else -> free(i)
     fi
  :: else
  fi
}

inline beginSuccessor() {
  d_step { assert(made < GENERATIONS); successor = made; made++; life[successor] = live; hasBegun = true }
}

inline replaceCurrent() {
  if
  :: successor != NONE
  :: else ->
     if
#ifdef MUTANT_COMPACTED_UNDER_A_WALK
     :: count[current] <= step -> compact()
#else
     :: count[current] <= step && !isWalked(current) ->
        compact();
#ifdef GOAL_COMPACTED
        assert(false);
#endif
#endif
     :: else ->
        beginSuccessor();
        if
        :: count[current] <= step -> installSuccessor()
        :: else
        fi
     fi
  fi
}

inline reclaim() {
  if
  :: currentNeedsReclaiming || areRetired || needsReclaiming ->
#ifndef MUTANT_ANNOUNCED_AFTER_THE_LOOK
     needsReclaiming = true;
#endif
     atomic {
       g = 0;
       do
       :: g < made ->
          if
          :: life[g] == retired && !isWalked(g) -> free(g)
          :: else
          fi;
          g++
       :: else -> break
       od;
       g = 0
     };
     if
     :: currentNeedsReclaiming && successor == NONE && !isWalked(current) ->
        if
        :: isSparse(current) -> replaceCurrent()
        :: else ->
           d_step {
             i = 0;
             do
             :: i < count[current] ->
                if
                :: !identity[at(current, i)] -> release(current, i)
                :: else
                fi;
                i++
             :: else -> break
             od;
             i = 0; lingers[current] = false; written[current]++
           }
        fi
     :: else
     fi;
     if
     :: !areRetired && !currentNeedsReclaiming -> needsReclaiming = false
#ifdef MUTANT_ANNOUNCED_AFTER_THE_LOOK
     :: else -> needsReclaiming = true
#else
     :: else
#endif
     fi
  :: else
  fi
}

proctype Thread(mtype task; byte c) {
  byte g, i, j, end, n, members, last, seen;
  bool did, was, hasBegun, isAdded, foundDead;

  if
  :: task == walk ->
     /* ClientList.beginWalk */
#ifdef MUTANT_BEGUN_WITHOUT_THE_LOCK
     g = current;
     atomic {
#else
     atomic {
       !locked -> g = current;
#endif
       begun[g]++; n = count[g]; seen = written[g];
       i = 0;
       do
       :: i < n -> members = members | (identity[at(g, i)] << client[at(g, i)]); i++
       :: else -> i = 0; break
       od
     };
     do
     :: i < n ->
        /* Walk.next, WeakBox.load */
        atomic {
          assert(written[g] == seen);
          c = client[at(g, i)];
          did = identity[at(g, i)];
          assert(did || !(members & (1 << c)) || isBeingRemoved[c] || !alive[c]);
          assert(!did || !isRemoved[c])
        };
        if
        :: did && alive[c] ->
           assert(members & (1 << c));
           assert(last < c); last = c;
           /* The call, with the companion. */
           atomic { assert(written[g] == seen); assert(!companions || references[companion[at(g, i)]] > 0) }
        :: did && !alive[c] ->
           /* Walk.noteDead */
           vacateBox(g, i);
           foundDead = foundDead || did
        :: else
        fi;
        i++
     :: else -> break
     od;
     assert(written[g] == seen);
     /* ClientList.endWalk */
     if
     :: foundDead ->
        lock();
        if
        :: current == g ->
           lingers[g] = companions;
           if
           :: currentNeedsReclaiming -> needsReclaiming = true
           :: else
           fi
        :: else
        fi;
        unlock()
     :: else
     fi;
#ifdef MUTANT_END_LOOKS_FIRST
     did = needsReclaiming; ended[g]++;
#else
     ended[g]++; did = needsReclaiming;
#endif
     if
     :: !did -> goto done
     :: else -> lock()
     fi;
     if
     :: isSparse(current) && isWalked(current) -> replaceCurrent()
     :: else
     fi

  :: task == remove ->
     lock();
     isBeingRemoved[c] = true;
#ifndef MUTANT_REMOVED_IN_THE_CURRENT_ONE_ONLY
     g = 0;
     do
     :: g < made ->
        if
        :: life[g] == retired || g == successor -> vacate(g)
        :: else
        fi;
        g++
     :: else -> break
     od;
#endif
     vacate(current)

  :: task == add ->
adding:
     lock();
     if
     :: successor != NONE || count[current] < limit ->
        append(current, LATECOMER, (companions -> LATECOMER : 0));
        isAdded = true;
        goto leave
     :: else ->
        /* ClientList.makeRoom, after its walk */
        if
        :: vacated[current] == 0 -> limit = BOXES; goto leave
        :: else -> replaceCurrent()
        fi;
#ifdef MUTANT_NOTHING_RECLAIMED_TO_MAKE_ROOM
        goto leave
#endif
     fi

  :: task == replace ->
     /* ClientList.replaceHandingOut */
     lock();
#ifndef MUTANT_REPLACED_UNDER_A_WALK
     if
     :: successor == NONE && isWalked(current) -> beginSuccessor()
     :: else
     fi;
     installSuccessor();
#endif
     d_step {
       i = 0;
       do
       :: client[at(current, i)] != c -> i++
       :: else -> break
       od;
       release(current, i); companion[at(current, i)] = NEW; references[NEW]++; written[current]++
     }
  fi;

reclaiming:
  reclaim();
leave:
  unlock();
  isRemoved[c] = isRemoved[c] || task == remove;
  /* ClientList.makeSuccessor */
  do
  :: hasBegun ->
     lock();
     if
     :: successor == NONE -> hasBegun = false; unlock()
     :: else ->
        advance(step);
        if
        :: copied == count[current] -> installSuccessor(); goto reclaiming
        :: else ->
#ifdef GOAL_COPIED_IN_STEPS
           assert(false);
#endif
           unlock()
        fi
     fi
  :: else -> break
  od;
  if
  :: task == add && !isAdded -> goto adding
  :: else
  fi;
done:
  skip
}

/* The client may be deallocated at any time, or stay. */
proctype Death(byte c) { alive[c] = false }

init {
  byte i, boxes;
  atomic {
    if
    :: companions = false
    :: companions = true
    fi;
    if
    :: step = 2
    :: step = 3
    fi;
    life[0] = live;
    do
    :: i < 3 ->
       i++;
       client[at(0, i - 1)] = i; identity[at(0, i - 1)] = true; counted[at(0, i - 1)] = true;
       companion[at(0, i - 1)] = (companions -> i : 0); references[i] = companions;
       alive[i] = true
    :: else -> break
    od;
    count[0] = 3; group = 3; alive[LATECOMER] = true;
    run Thread(walk, 0);
    if
    :: run Thread(walk, 0);
       if
       :: run Thread(remove, 3)
       :: companions -> run Thread(replace, 2)
       :: run Thread(add, LATECOMER)
       fi
    :: run Thread(remove, 1);
       if
       :: run Thread(remove, 2)
       :: companions -> run Thread(replace, 2)
       :: run Thread(add, LATECOMER)
       fi
    fi;
    run Death(3)
  };
  /* The other threads have ended. */
  _nr_pr == 1;
  atomic {
    assert(!areRetired && successor == NONE && !isSparse(current) && !lingers[current]);
    i = 0;
    do
    :: i < count[current] ->
       if
       :: identity[at(current, i)] -> boxes++
       :: else
       fi;
       if
       :: companion[at(current, i)] != 0 ->
          assert(identity[at(current, i)]); references[companion[at(current, i)]]--
       :: else -> assert(!identity[at(current, i)] || !companions)
       fi;
       i++
    :: else -> break
    od;
    assert(boxes == group && boxes + vacated[current] == count[current]);
    i = 1;
    do
    :: i <= NEW -> assert(references[i] == 0); i++
    :: else -> break
    od
  }
}
