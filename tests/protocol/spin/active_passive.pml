/* Algorithm 5 (active and passive workers): Promela model, as printed and as mended. Numbers are the thesis's lines.
 * Workers 0 to P/2 - 1 are passive, the others active.
 *
 * Mends: POOL      lines 14 and 15, 32 and 34, are one step
 *        P_LOCK    line 23: p_x is written under its own lock
 *        JOIN      line 5: available_workers starts empty; a passive worker enters it with its first gradient
 * -DSTRICT_REMOVE: removing an id that is not there is an error (line 48), as list.remove has it in Python.
 */
#if P > 2
#define holds_a_lock(worker) (lock_available == worker || lock_p[0] == worker || lock_p[1] == worker)
#else
#define holds_a_lock(worker) (lock_available == worker || lock_p[0] == worker)
#endif
#include "shared.pml"

#if defined(MENDED) && !defined(WITHOUT_P_LOCK)
#define MEND_P_LOCK
#endif

#define PASSIVE (P / 2)

byte available_workers;  /* a set of passive workers: bit w is worker w */
byte p[PASSIVE];         /* p_x: the active worker that passive worker x is to average with */
byte lock_available = NONE;
byte lock_p[PASSIVE];

inline choose_partner() {
    if
    :: is_in(available_workers, 0) -> partner = 0
#if P > 2
    :: is_in(available_workers, 1) -> partner = 1
#endif
    fi
}

inline read_partner() {
    lock(lock_p[me]);                                                        /* 37, 50 */
    partner = p[me];                                                         /* 38, 51 */
    p[me] = NONE;                                                            /* 39, 52 */
    unlock(lock_p[me])
}

inline become_available() {
    lock(lock_available);                                                    /* 42 */
    available_workers = available_workers | bit_of(me);                      /* 43 */
    unlock(lock_available)                                                   /* 44 */
}

/* Properties at the end: all batches trained, nobody left available, paired or waiting, nothing left locked. */
inline check_end() {
    d_step {
        ended++;
        assert(waits_for[me] == NONE);
        assert(ended < P || (all_trained && available_workers == 0 && lock_available == NONE));
        other = 0;
        do
        :: other < PASSIVE ->
            assert(ended < P || (p[other] == NONE && lock_p[other] == NONE));
            other++
        :: else -> break
        od;
        other = 0
    }
}

proctype active_worker(byte me) {
    byte count = 0, partner = NONE, item;                                    /* 12, 13 */
    bool first;
    do
    ::  take_or_break();                                                     /* 14 to 18 */
        first = false;
        if
        :: count == 0 ->                                                     /* 19 */
            lock(lock_available);                                            /* 20 */
            if
            :: available_workers != 0 ->                                     /* 21 */
                choose_partner();                                            /* 22 */
#ifdef MEND_P_LOCK
                lock(lock_p[partner]);
#endif
                p[partner] = me;                                             /* 23 */
#ifdef MEND_P_LOCK
                unlock(lock_p[partner]);
#endif
                available_workers = available_workers & ~bit_of(partner)     /* 24 */
            :: else
            fi;
            unlock(lock_available);                                          /* 25 */
            if
            :: partner != NONE ->                                            /* 26 */
                average_with(partner);                                       /* 27 */
                partner = NONE                                               /* 28 */
            :: else
            fi
        :: else
        fi                                                                   /* 29: update weights */
    od;
    check_end()
}

proctype passive_worker(byte me) {
    byte count = 0, partner = NONE, item;
    bool first;
    do
    ::  take_or_break();                                                     /* 32 to 36 */
#ifdef MEND_JOIN
        if
        :: first ->
            become_available();
            first = false
        :: else
        fi;
#endif
        read_partner();
        if
        :: partner != NONE ->                                                /* 40 */
            average_with(partner);                                           /* 41 */
            become_available()
        :: else
        fi                                                                   /* 45: update weights */
    od;
    lock(lock_available);                                                    /* 47 */
#ifdef STRICT_REMOVE
    assert(is_in(available_workers, me) || !gradient[me]);
#endif
    available_workers = available_workers & ~bit_of(me);                     /* 48 */
    unlock(lock_available);                                                  /* 49 */
    read_partner();
    if
    :: partner != NONE ->                                                    /* 53 */
        average_with(partner)                                                /* 54 */
    :: else
    fi;
    check_end()
}

init {
    byte worker_id;
    atomic {
        choose_run();
        for (worker_id : 0 .. P - 1) {
            waits_for[worker_id] = NONE;
        }
        for (worker_id : 0 .. PASSIVE - 1) {
            p[worker_id] = NONE;
            lock_p[worker_id] = NONE;
        }
#ifndef MEND_JOIN
        available_workers = (1 << PASSIVE) - 1;                              /* 5 */
#endif
        for (worker_id : 0 .. P - 1) {
            if
            :: worker_id < PASSIVE -> run passive_worker(worker_id)
            :: else -> run active_worker(worker_id)
            fi
        }
    }
}
