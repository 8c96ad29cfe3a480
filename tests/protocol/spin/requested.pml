/* Algorithm 6 with partners by request (plugins/strategies/gossip-gcn/requested.cpp): who ends an interval accepts a request
 * that has come, else asks another worker and waits for the answer. Nothing of this is printed, so -DMENDED means the
 * protocol as it is, of which parts can be left out:
 *
 * -DWITHOUT_REFUSAL  a worker that waits for an answer answers nobody
 * -DSPLIT            a worker looks for requests in one critical section and asks in another, as with messages
 * -DWITHOUT_LEAVING  a worker that ends answers nobody, and does not say that it has left
 */
#define holds_a_lock(worker) (mutex == worker)
#include "shared.pml"

#define ACCEPTED 254
#define REFUSED 253

byte request[P];        /* whom a worker asks, or the answer, or NONE */
byte has_left;          /* a set */
byte mutex = NONE;      /* guards both */
hidden byte asking;     /* scratch of one step */

#define asks_me(worker) (request[worker] == me)
#if P == 2
#define somebody_asks_me (asks_me(0) || asks_me(1))
#elif P == 3
#define somebody_asks_me (asks_me(0) || asks_me(1) || asks_me(2))
#else
#define somebody_asks_me (asks_me(0) || asks_me(1) || asks_me(2) || asks_me(3))
#endif

/* Each of those who ask may be the one. */
inline choose_asking() {
    if
    :: asks_me(0) -> partner = 0
    :: asks_me(1) -> partner = 1
#if P > 2
    :: asks_me(2) -> partner = 2
#endif
#if P > 3
    :: asks_me(3) -> partner = 3
#endif
    fi
}

inline draw_other() {
    if
    :: me != 0 -> asked = 0
    :: me != 1 -> asked = 1
#if P > 2
    :: me != 2 -> asked = 2
#endif
#if P > 3
    :: me != 3 -> asked = 3
#endif
    fi
}

/* Under the lock, as all that others do with these words: so it is one step. */
inline refuse_all() {
    d_step {
        asking = 0;
        do
        :: asking < P ->
            if
            :: asks_me(asking) -> request[asking] = REFUSED
            :: else
            fi;
            asking++
        :: else -> break
        od;
        asking = 0
    }
}

/* partner: whom this worker averages with, or NONE. */
inline find_partner() {
    draw_other();
    lock(mutex);
    if
    :: somebody_asks_me ->
        choose_asking();
        request[partner] = ACCEPTED;
        refuse_all();
        unlock(mutex)
    :: else ->
#ifdef SPLIT
        unlock(mutex);
        lock(mutex);
#endif
        if
        :: is_in(has_left, asked) -> unlock(mutex)
        :: else ->
            request[me] = asked;
            unlock(mutex);
            wait_for_answer()
        fi
    fi
}

/* A poll that finds neither an answer nor a request changes nothing, so the model waits for one of them instead. */
inline wait_for_answer() {
    do
    :: request[me] >= REFUSED ->
        lock(mutex);
        if
        :: request[me] == ACCEPTED -> partner = asked
        :: else
        fi;
        request[me] = NONE;
        unlock(mutex);
        break
#ifndef WITHOUT_REFUSAL
    :: request[me] < REFUSED && somebody_asks_me ->
        lock(mutex);
        if
        :: request[me] < REFUSED -> refuse_all()
        :: else
        fi;
        unlock(mutex)
#endif
    od
}

inline leave() {
#ifndef WITHOUT_LEAVING
    lock(mutex);
    has_left = has_left | bit_of(me);
    refuse_all();
    unlock(mutex)
#else
    skip
#endif
}

proctype worker(byte me) {
    byte count = 0, partner = NONE, asked, item;
    bool first;
    do
    ::  take_or_break();                                                     /* 11 to 15 */
        first = false;
        if
        :: count == 0 ->                                                     /* 16 */
            find_partner();
            if
            :: partner != NONE ->                                            /* 33 */
                average_with(partner);                                       /* 35 */
                partner = NONE
            :: else
            fi
        :: else
        fi                                                                   /* 43: update weights */
    od;
    leave();
    /* Properties at the end: all batches trained, nobody left asking, asked or waiting, nothing left locked. */
    d_step {
        ended++;
        assert(request[me] == NONE && waits_for[me] == NONE && !somebody_asks_me);
        assert(ended < P || all_trained);
        assert(ended < P || mutex == NONE)
    }
}

init {
    byte worker_id;
    atomic {
        choose_run();
        for (worker_id : 0 .. P - 1) {
            request[worker_id] = NONE;
            waits_for[worker_id] = NONE;
        }
        for (worker_id : 0 .. P - 1) {
            run worker(worker_id);
        }
    }
}
