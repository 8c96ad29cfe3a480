/* Algorithm 6 (GossipGCN): Promela model, as printed and as mended. Numbers are the thesis's lines.
 *
 * Mends: POOL      lines 11 and 12 are one step
 *        JOIN      line 5: available_workers starts empty; a worker enters it with its first gradient
 *        UNLOCKED  lines 50 to 54: who is averaged with is read, and reset, under both locks; the averaging comes after
 * -DSWAP_LOCKS: the clean-up takes its two locks in the other order.
 */
#define holds_a_lock(worker) (lock_available == worker || lock_partner == worker)
#include "shared.pml"

#if defined(MENDED) && !defined(WITHOUT_UNLOCKED)
#define MEND_UNLOCKED
#endif

byte available_workers;  /* a set: bit w is worker w */
byte gossip_partner[P];
byte lock_available = NONE, lock_partner = NONE;

inline choose_partner() {
    if
    :: is_in(available_workers, 0) -> partner = 0
    :: is_in(available_workers, 1) -> partner = 1
#if P > 2
    :: is_in(available_workers, 2) -> partner = 2
#endif
#if P > 3
    :: is_in(available_workers, 3) -> partner = 3
#endif
    fi
}

inline find_partner() {
    lock(lock_available);                                                    /* 17 */
    lock(lock_partner);                                                      /* 18 */
    my_partner = gossip_partner[me];                                         /* 19 */
    if
    :: my_partner == NONE ->                                                 /* 20 */
        available_workers = available_workers & ~bit_of(me);                 /* 21 */
        if
        :: available_workers != 0 ->                                         /* 22 */
            choose_partner();                                                /* 23 */
            available_workers = available_workers & ~bit_of(partner);        /* 24 */
            gossip_partner[me] = partner;                                    /* 25 */
            gossip_partner[partner] = me                                     /* 26 */
        :: else ->
            available_workers = available_workers | bit_of(me)               /* 28 */
        fi
    :: else -> partner = my_partner                                          /* 30 */
    fi;
    unlock(lock_available);                                                  /* 31 */
    unlock(lock_partner)                                                     /* 32 */
}

inline become_available() {
    lock(lock_available);                                                    /* 36 */
    lock(lock_partner);                                                      /* 37 */
    gossip_partner[me] = NONE;                                               /* 38 */
    available_workers = available_workers | bit_of(me);                      /* 39 */
    unlock(lock_available);                                                  /* 40 */
    unlock(lock_partner)                                                     /* 41 */
}

inline clean_up() {
#ifdef SWAP_LOCKS
    lock(lock_partner);
    lock(lock_available);
#else
    lock(lock_available);                                                    /* 45 */
    lock(lock_partner);                                                      /* 46 */
#endif
#ifdef MEND_UNLOCKED
    partner = gossip_partner[me];
    gossip_partner[me] = NONE;
    available_workers = available_workers & ~bit_of(me);
    unlock(lock_available);
    unlock(lock_partner);
    if
    :: partner != NONE -> average_with(partner)
    :: else
    fi
#else
    if
    :: is_in(available_workers, me) ->                                       /* 47 */
        available_workers = available_workers & ~bit_of(me)                  /* 48 */
    :: else ->
#ifdef MEND_JOIN
        if
        :: gradient[me] ->
#endif
        my_partner = gossip_partner[me];                                     /* 50 */
        average_with(my_partner);                                            /* 51 */
        gossip_partner[me] = NONE                                            /* 52 */
#ifdef MEND_JOIN
        :: else  /* never entered */
        fi
#endif
    fi;
    unlock(lock_available);                                                  /* 53 */
    unlock(lock_partner)                                                     /* 54 */
#endif
}

proctype worker(byte me) {
    byte count = 0, partner = NONE, my_partner, item;
    bool first;
    do
    ::  take_or_break();                                                     /* 11 to 15 */
#ifdef MEND_JOIN
        if
        :: first ->
            lock(lock_available);
            available_workers = available_workers | bit_of(me);
            unlock(lock_available);
            first = false
        :: else
        fi;
#endif
        if
        :: count == 0 ->                                                     /* 16 */
            find_partner();
            if
            :: partner != NONE ->                                            /* 33 */
                average_with(partner);                                       /* 35 */
                become_available();
                partner = NONE                                               /* 42 */
            :: else
            fi
        :: else
        fi                                                                   /* 43: update weights */
    od;
    clean_up();
    /* Properties at the end: all batches trained, nobody left available, paired or waiting, nothing left locked. */
    d_step {
        ended++;
        assert(gossip_partner[me] == NONE && waits_for[me] == NONE && !is_in(available_workers, me));
        assert(ended < P || (all_trained && available_workers == 0));
        assert(ended < P || (lock_available == NONE && lock_partner == NONE));
    }
}

init {
    byte worker_id;
    atomic {
        choose_run();
        for (worker_id : 0 .. P - 1) {
            gossip_partner[worker_id] = NONE;
            waits_for[worker_id] = NONE;
        }
#ifndef MEND_JOIN
        available_workers = (1 << P) - 1;                                    /* 5 */
#endif
        for (worker_id : 0 .. P - 1) {
            run worker(worker_id);
        }
    }
}
