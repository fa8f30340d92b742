/* cluster.pml - the protocol of runtime/ranks/ for spin: waves are given out, results are accepted, written and journaled, while
 * workers die or only seem to, and while a second run begins beside the first one or after its death.
 *
 *     Two workers, WAVES waves, a window of WINDOW waves for each worker, two places for waves that have not ended. At most DEATHS
 *     workers die, but one lives. SEEMING times a worker is silent and lives. MANAGERS runs begin, one after the other.
 *
 *     With STORES workers write a file for each wave (@worker). It gets its name on the worker whose result was accepted, which says so then.
 *
 * Time is left out: that a worker was silent for too long is an event that may come at any moment. So nothing that is shown here
 * depends on how long anything takes. Heartbeats are that event, and the one that a worker is heard again.
 *
 * What is checked:
 *     once, in order    the output is waves 0, 1, 2, … and each is recorded once, after it was written
 *     resumed           what the journal records is in the output when a run begins
 *     stored            the file of a wave that is recorded has its name
 *     it ends           the newest run records all waves, as long as one worker lives (else spin finds an invalid end state)
 *
 * Each of these leaves out one rule and must be found wanting:
 *     NO_BEAT     nobody counts as dead
 *     NO_REGIVE   waves of the dead are not given out again
 *     NO_REVIVE   whoever counted as dead gets no waves any more
 *     NO_ONCE     a result is accepted though its wave has one
 *     NO_ORDER    results are written as they come
 *     NO_BOUND    waves are given out without looking for a place
 *     NO_SYNC     a wave is recorded before its output is written
 *     NO_CUT      a run that resumes leaves in the output what was not recorded
 *     NO_FENCE    a manager writes though a newer run has begun
 *     NO_WAIT     with STORES: a wave ends though its file may not have its name
 *     NO_AGAIN    with STORES: a wave whose file was to be stored by one who died is not given out again
 */
#ifndef WAVES
#define WAVES 3
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef SEEMING
#define SEEMING 1
#endif
#ifndef MANAGERS
#define MANAGERS 1                      /* epochs 1 to MANAGERS */
#endif
#define WORKERS 2
#define PLACES 2                        /* slots 0 and PLACES - 1 are all there are */
#define NOBODY WORKERS

mtype = { FREE, WAITING, GIVEN, ACCEPTED,
          AGAIN, GIVEN_AGAIN }          /* its result was accepted, and it waits for, or is with, a worker for its file alone */

/* ---- messages: a GIVE is (epoch, wave), a RESULT is (wave) to the manager of its epoch ---- */

chan gives[WORKERS] = [MANAGERS * WINDOW + SEEMING] of { byte, byte };
chan results[MANAGERS * WORKERS] = [WINDOW + SEEMING] of { byte };

#ifdef STORES
chan verdicts[WORKERS] = [MANAGERS * (WINDOW + SEEMING) + 2] of { byte, byte }; /* (epoch, wave): your result was accepted */
chan stored[MANAGERS * WORKERS] = [WINDOW + SEEMING + 2] of { byte };    /* (wave): its file has its name */
#endif

/* ---- what is on the disk ---- */

#ifdef STORES
bool file[WAVES];                       /* the file of the wave has its name */
#endif

byte n_output;                          /* waves in the output; those before n_output are 0, 1, 2, … */
byte n_recorded;
byte journal_epoch;

/* ---- what happens from outside ---- */

bool dead[WORKERS];
byte n_dead, n_seeming;
bool gone[MANAGERS + 1];                    /* the manager of this epoch has ended or was killed */

/* ---- a manager's knowledge, by epoch and worker ---- */

bool live[MANAGERS * WORKERS];
byte held[MANAGERS * WORKERS];
#define AT(w) ((epoch - 1) * WORKERS + (w))

#ifdef NO_BOUND
#define HAS_PLACE(wave) (true)
#else
#define HAS_PLACE(wave) ((wave) < ended + PLACES)
#endif
#ifdef NO_ONCE
#define IS_WANTED(wave) (true)
#else
#define IS_WANTED(wave) ((wave) >= ended && slot_wave[(wave) % PLACES] == (wave) && \
                         (slot[(wave) % PLACES] == GIVEN || slot[(wave) % PLACES] == WAITING))
#endif
#ifdef NO_FENCE
#define IS_FENCED (false)
#else
#define IS_FENCED (journal_epoch > epoch)
#endif

#ifdef NO_BEAT
#define SILENT(w) (false)
#else
#define SILENT(w) (live[AT(w)] && (dead[w] || n_seeming < SEEMING))
#endif
#ifdef NO_REVIVE
#define HEARD(w) (false)
#else
#define HEARD(w) (!live[AT(w)] && !dead[w] && held[AT(w)] == 0)
#endif
#define WANTS(w) (live[AT(w)] && held[AT(w)] < WINDOW)
#define WAITS (slot[0] == WAITING || slot[PLACES - 1] == WAITING || slot[0] == AGAIN || slot[PLACES - 1] == AGAIN)
#ifdef NO_WAIT
#define IS_STORED(place) (true)
#elif defined(STORES)
#define IS_STORED(place) (is_stored[place])
#else
#define IS_STORED(place) (true)
#endif
#define HAS_WAVE (fresh < WAVES && HAS_PLACE(fresh) || WAITS)

#ifdef NO_ORDER
#define NEXT_IS_THERE (slot[0] == ACCEPTED || slot[PLACES - 1] == ACCEPTED)
#define NEXT (slot[0] == ACCEPTED -> 0 : PLACES - 1)
#else
#define NEXT_IS_THERE (slot[ended % PLACES] == ACCEPTED && IS_STORED(ended % PLACES))
#define NEXT (ended % PLACES)
#endif

inline write_output()
{
    if
    :: IS_FENCED
    :: else -> assert(n_output == wave); n_output++
    fi
}

inline write_record()
{
    if
    :: IS_FENCED
    :: else ->
#ifdef STORES
       assert(file[wave]);
#endif
       assert(n_recorded == wave); n_recorded++
    fi
}

/* The oldest wave that waits again, or the next one that was never given. wave = WAVES: none. */
inline choose_wave()
{
    wave = WAVES;
    i = 0;
    do
    :: i < PLACES ->
       if
       :: (slot[i] == WAITING || slot[i] == AGAIN) && slot_wave[i] < wave -> wave = slot_wave[i]
       :: else
       fi;
       i++
    :: else -> break
    od;
    if
    :: wave == WAVES && fresh < WAVES && HAS_PLACE(fresh) -> wave = fresh; fresh++
    :: else
    fi
}

/* Gives the worker waves, up to its window. */
inline give(w)
{
    atomic {
        ended < WAVES && WANTS(w) && HAS_WAVE;
        choose_wave();
        if
        :: wave < WAVES ->
           slot[wave % PLACES] = (slot[wave % PLACES] == AGAIN -> GIVEN_AGAIN : GIVEN);
           slot_wave[wave % PLACES] = wave;
           owner[wave % PLACES] = w;
           held[AT(w)]++;
           if
           :: dead[w]
           :: else -> assert(nfull(gives[w])); gives[w]!epoch,wave
           fi
        :: else
        fi;
        i = 0;
        wave = 0
    }
}

/* The worker is to give the file its name. */
inline let_store(w)
{
#ifdef STORES
    is_stored[wave % PLACES] = false;
    storer[wave % PLACES] = w;
    if
    :: dead[w]
    :: else -> assert(nfull(verdicts[w])); verdicts[w]!epoch,wave
    fi
#else
    skip
#endif
}

#ifdef STORES
/* Who says it may be another one than who is to, if that one seemed to be dead. */
inline note_stored(w)
{
    atomic {
        stored[AT(w)]?wave;
        if
        :: wave >= ended && slot_wave[wave % PLACES] == wave &&
           (slot[wave % PLACES] == ACCEPTED || slot[wave % PLACES] == AGAIN || slot[wave % PLACES] == GIVEN_AGAIN) ->
           slot[wave % PLACES] = ACCEPTED;
           owner[wave % PLACES] = NOBODY;
           storer[wave % PLACES] = NOBODY;
           is_stored[wave % PLACES] = true
        :: else
        fi;
        wave = 0
    }
}
#endif

inline accept(w)
{
    atomic {
        results[AT(w)]?wave;
        held[AT(w)]--;
#ifndef NO_REVIVE
        live[AT(w)] = true;
#endif
        if
        :: IS_WANTED(wave) ->
           slot[wave % PLACES] = ACCEPTED;
           slot_wave[wave % PLACES] = wave;
           owner[wave % PLACES] = NOBODY;
           let_store(w)
#ifdef STORES
        :: !IS_WANTED(wave) && wave >= ended && slot_wave[wave % PLACES] == wave &&
           (slot[wave % PLACES] == AGAIN || slot[wave % PLACES] == GIVEN_AGAIN) ->
           slot[wave % PLACES] = ACCEPTED;
           owner[wave % PLACES] = NOBODY;
           let_store(w)
        :: !IS_WANTED(wave) && !(wave >= ended && slot_wave[wave % PLACES] == wave &&
           (slot[wave % PLACES] == AGAIN || slot[wave % PLACES] == GIVEN_AGAIN))
#else
        :: else
#endif
        fi;
        wave = 0
    }
}

/* The worker was silent for too long. */
inline bury(w)
{
    atomic {
        ended < WAVES && SILENT(w);
        live[AT(w)] = false;
        if
        :: dead[w]
        :: else -> n_seeming++
        fi;
#ifndef NO_REGIVE
        i = 0;
        do
        :: i < PLACES ->
           if
           :: slot[i] == GIVEN && owner[i] == w -> slot[i] = WAITING; owner[i] = NOBODY
#if defined(STORES) && !defined(NO_AGAIN)
           :: slot[i] == GIVEN_AGAIN && owner[i] == w -> slot[i] = AGAIN; owner[i] = NOBODY
           :: slot[i] == ACCEPTED && storer[i] == w -> slot[i] = AGAIN; storer[i] = NOBODY
#endif
           :: else
           fi;
           i++
        :: else -> break
        od;
        i = 0
#endif
    }
}

/* The next result is written and then recorded, and its place is free. A kill may come between the two. */
#ifdef NO_SYNC
#define FIRST write_record
#define SECOND write_output
#else
#define FIRST write_output
#define SECOND write_record
#endif
inline end_wave()
{
    atomic { ended < WAVES && NEXT_IS_THERE; wave = slot_wave[NEXT]; FIRST() };
    if
    :: atomic {
           true;
           SECOND();
           slot_wave[NEXT] = 0;
           slot[NEXT] = FREE;
           ended++;
           wave = 0
       }
    :: epoch < MANAGERS -> break        /* killed */
    fi
}

proctype manager()
{
    byte epoch;
    mtype slot[PLACES];
    byte slot_wave[PLACES], owner[PLACES];
#ifdef STORES
    byte storer[PLACES];
    bool is_stored[PLACES];
#endif
    byte fresh, ended, wave, i;

    d_step {
        journal_epoch++;
        epoch = journal_epoch;
        assert(n_output >= n_recorded); /* what is recorded is there */
#ifndef NO_CUT
        n_output = n_recorded;
#endif
        fresh = n_recorded;
        ended = n_recorded;
        do
        :: i < PLACES ->
           slot[i] = FREE;
           owner[i] = NOBODY;
#ifdef STORES
           storer[i] = NOBODY;
#endif
           i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < WORKERS -> live[AT(i)] = true; i++
        :: else -> break
        od;
        i = 0
    };
    do
    :: ended == WAVES -> break
    :: give(0)
    :: give(1)
    :: accept(0)
    :: accept(1)
#ifdef STORES
    :: note_stored(0)
    :: note_stored(1)
#endif
    :: bury(0)
    :: bury(1)
    :: atomic { ended < WAVES && HEARD(0); live[AT(0)] = true }
    :: atomic { ended < WAVES && HEARD(1); live[AT(1)] = true }
    :: end_wave()
    :: epoch < MANAGERS -> break        /* killed; a run that is fenced is stopped by whoever sees it */
    od;
    atomic {
        gone[epoch] = true;
        assert(epoch < MANAGERS || (n_output == WAVES && n_recorded == WAVES));
        held[AT(0)] = 0;
        held[AT(1)] = 0;
        live[AT(0)] = false;
        live[AT(1)] = false
    }
}

proctype worker(byte self)
{
    byte epoch, newest, wave;

end_of_work:
    do
    :: gives[self]?epoch,wave ->
       d_step {
           if
           :: epoch >= newest && !gone[epoch] ->
              newest = epoch;
              assert(nfull(results[(epoch - 1) * WORKERS + self]));
              results[(epoch - 1) * WORKERS + self]!wave
           :: else                      /* of an older run, or of one that is gone */
           fi;
           epoch = 0;
           wave = 0
       }
#ifdef STORES
    :: verdicts[self]?epoch,wave ->
       file[wave] = true;               /* it may die before it can say so */
       d_step {
           if
           :: !gone[epoch] ->
              assert(nfull(stored[(epoch - 1) * WORKERS + self]));
              stored[(epoch - 1) * WORKERS + self]!wave
           :: else
           fi;
           epoch = 0;
           wave = 0
       }
#endif
    :: atomic { n_dead < DEATHS && n_dead + 1 < WORKERS -> n_dead++; dead[self] = true; break }
    od
}

init
{
    atomic { run worker(0); run worker(1); run manager() };
#if MANAGERS > 1
    run manager()                       /* at any moment, the first one killed or not */
#endif
}
