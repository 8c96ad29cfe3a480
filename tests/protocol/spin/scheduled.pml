/* Algorithm 6 with scheduled partners (plugins/strategies/gossip-gcn/scheduled.cpp): at the end of its k-th interval a
 * worker waits for its partner of round k. Nothing of this is printed, so -DMENDED means the protocol as it is.
 *
 * -DROTATING         each with every other in turn; else 0 with 1, 2 with 3 in every round
 * -DWITHOUT_LEAVING  a worker that ends does not say so
 * -DUNMATCHED        two rounds of the rotating schedule are swapped for worker 0 alone
 */
#define holds_a_lock(worker) false
#include "shared.pml"


byte rounds[P];  /* that a worker has come to; changed by it alone, in one step (fetch-and-add) */
byte has_left;   /* a set */

/* The circle method, as scheduled_partner computes it. LAST: of an even number of workers; P where P is odd. */
#define LAST (P + P % 2 - 1)
inline find_scheduled(round) {
    d_step {
#ifdef ROTATING
        sum = (round - 1) % LAST;
#ifdef UNMATCHED
        if
        :: me == 0 && sum < 2 -> sum = 1 - sum
        :: else
        fi;
#endif
        partner = (sum + LAST - me % LAST) % LAST;
        if
        :: me == LAST && sum % 2 == 0 -> partner = sum / 2
        :: me == LAST && sum % 2 == 1 -> partner = (sum + LAST) / 2
        :: me != LAST && partner == me -> partner = LAST
        :: else
        fi;
#else
        if
        :: me % 2 == 0 -> partner = me + 1
        :: else -> partner = me - 1
        fi;
#endif
        if
        :: partner >= P -> partner = NONE
        :: else
        fi;
        sum = 0
    }
}

/* A poll that finds nothing new changes nothing, so the model waits instead. One read tells both: the words are one. */
inline wait_in_round(round) {
#ifndef WITHOUT_LEAVING
    atomic {
        (rounds[partner] >= round || is_in(has_left, partner));
        if
        :: rounds[partner] >= round
        :: else -> partner = NONE
        fi
    }
#else
    rounds[partner] >= round
#endif
}

proctype worker(byte me) {
    byte count = 0, partner = NONE, sum, item, round = 0;
    bool first;
    do
    ::  take_or_break();                                                     /* 11 to 15 */
        first = false;
        if
        :: count == 0 ->                                                     /* 16 */
            atomic {
                round = rounds[me] + 1;
                rounds[me] = round
            };
            find_scheduled(round);
            if
            :: partner != NONE -> wait_in_round(round)
            :: else
            fi;
            if
            :: partner != NONE ->                                            /* 33 */
                assert(rounds[partner] == round);                            /* it waits, or has just come */
                average_with(partner);                                       /* 35 */
                partner = NONE
            :: else
            fi
        :: else
        fi                                                                   /* 43: update weights */
    od;
    has_left = has_left | bit_of(me);
    /* Properties at the end: all batches trained, nobody left waiting. */
    d_step {
        ended++;
        assert(waits_for[me] == NONE);
        assert(ended < P || all_trained)
    }
}

init {
    byte worker_id;
    atomic {
        choose_run();
        for (worker_id : 0 .. P - 1) {
            waits_for[worker_id] = NONE;
        }
        for (worker_id : 0 .. P - 1) {
            run worker(worker_id);
        }
    }
}
