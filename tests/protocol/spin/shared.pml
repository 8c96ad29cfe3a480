/* What both models share: the pool of work, locks, the exchange of a pair, and the properties.
 *
 * -DP=n            workers
 * -DMAX_ITEMS=n    the checker tries every pool of 0 to n batches,
 * -DMAX_INTERVAL=n and every averaging interval of 1 to n
 * -DMENDED         all mends; without it each mend can be switched on alone (-DMEND_POOL, ...), and with it each can be
 *                  left out (-DWITHOUT_POOL, ...)
 * -DBACKOFF        a lock is taken by compare-and-swap and retried, instead of blocking
 */
#ifndef P
#define P 2
#endif
#ifndef MAX_ITEMS
#define MAX_ITEMS 3
#endif
#ifndef MAX_INTERVAL
#define MAX_INTERVAL 2
#endif

#if defined(MENDED) && !defined(WITHOUT_POOL)
#define MEND_POOL
#endif
#if defined(MENDED) && !defined(WITHOUT_JOIN)
#define MEND_JOIN
#endif

#define NONE 255
#define bit_of(worker) (1 << (worker))
#define is_in(set, worker) ((set & bit_of(worker)) != 0)

byte items, interval;  /* this run's pool and averaging interval */
byte left;             /* batches still in work_pool; the next one removed is number items - left */
short trained;         /* bit i: batch i has been trained */
bool gradient[P];      /* the worker has trained a batch */
byte waits_for[P];     /* the partner that a worker waits for in an exchange */
byte ended;            /* workers at their end */
hidden byte other;     /* scratch of the properties */

/* --- locks: NONE is free, otherwise the owner ------------------------------------------------------------------ */

#ifdef BACKOFF
#define lock(mutex)                                         \
    do                                                      \
    :: atomic { mutex == NONE -> mutex = me; break }        \
    :: mutex != NONE -> skip /* back off */                 \
    od
#else
#define lock(mutex) atomic { mutex == NONE -> mutex = me }
#endif
#define unlock(mutex) atomic { assert(mutex == me); mutex = NONE }

/* --- the pool --------------------------------------------------------------------------------------------------- */

/* "while work_pool is not empty / remove a batch index" ends the loop at its first line, and takes nothing then.
 * As printed: two steps, and removing from an empty queue waits (multiprocessing.Queue.get). Mended: one
 * fetch-and-add, whose result says whether there was a batch. */
#ifdef MEND_POOL
#define take_or_break()                                                                           \
    if                                                                                            \
    :: atomic { left > 0 -> take() }                                                              \
    :: left == 0 -> break                                                                         \
    fi
#else
#define take_or_break()                                                                           \
    if                                                                                            \
    :: left > 0 -> atomic { left > 0 -> take() }                                                  \
    :: left == 0 -> break                                                                         \
    fi
#endif

/* The training itself is part of the step: nobody else sees it before this worker's next step. `count` is kept modulo the
 * interval. Property: every batch is trained once. */
#define take()                                                                                    \
    item = items - left;                                                                          \
    left--;                                                                                       \
    assert((trained & (1 << item)) == 0);                                                         \
    trained = trained | (1 << item);                                                              \
    item = 0;                                                                                     \
    count = (count + 1) % interval;                                                               \
    first = !gradient[me];                                                                        \
    gradient[me] = true

/* --- the exchange: a barrier of two, as an all-reduce of a group of two is ------------------------------------------ */

/* Properties: both have a gradient; neither is wanted by, nor waits for, a third; with -DCHECK_UNLOCKED nobody holds a
 * lock meanwhile. The second to come completes the exchange for both. */
inline average_with(partner_id) {
    d_step {
        assert(partner_id < P && partner_id != me);
        assert(gradient[me]);
        assert(waits_for[partner_id] == NONE || waits_for[partner_id] == me);
        other = 0;
        do
        :: other < P ->
            assert(other == partner_id || waits_for[other] != me);
            assert(other == me || waits_for[other] != partner_id);
            other++
        :: else -> break
        od;
        other = 0;
#ifdef CHECK_UNLOCKED
        assert(!holds_a_lock(me));
#endif
        if
        :: waits_for[partner_id] == me -> waits_for[partner_id] = NONE
        :: else -> waits_for[me] = partner_id
        fi
    }
    waits_for[me] == NONE
}

/* --- start and end ---------------------------------------------------------------------------------------------------- */

inline choose_run() {
    select(items : 0 .. MAX_ITEMS);
    select(interval : 1 .. MAX_INTERVAL);
    left = items;
}

#define all_trained (left == 0 && trained == (1 << items) - 1)

#ifdef BACKOFF
ltl every_worker_ends { <> (ended == P) }
#endif
