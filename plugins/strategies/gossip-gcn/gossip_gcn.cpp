// Algorithm 6 of the thesis (GossipGCN on a GPU cluster); line numbers are its own. Departures, each of which
// tests/protocol/spin derives from a trace of the printed algorithm:
//   11, 12      one fetch-and-add: a worker that saw an item left could wait for it for ever
//   5           available_workers starts empty, and a worker enters with its first gradient: one that finds the pool
//               empty has none to average
//   50 to 54    the locks are freed before the averaging, not after: all others would wait for that exchange
#include "gossip_gcn.hpp"

#include "progress.hpp"

namespace gnnbench::gossip {
namespace {

class GossipGcn {
public:
    GossipGcn(const Settings& settings, const Worker& worker)
        : workers_(settings.workers),
          me_(worker.id),
          worker_(worker),
          words_(worker.words),
          at_(settings.workers),
          available_lock_(words_, at_.available_lock, me_),
          partner_lock_(words_, at_.partner_lock, me_),
          pool_(words_, at_.next_item, settings.items),
          progress_(settings, worker) {}

    WorkerRecord train() {
        while (const auto item = pool_.take()) {   // 11, 12
            progress_.train(*item);                // 13 to 15
            if (progress_.first_batch()) enter();  // 5
            if (progress_.interval_ended()) {      // 16
                const int partner = find_partner();
                if (partner != nobody) {              // 33
                    progress_.average_with(partner);  // 34, 35
                    leave_pair();
                } else {
                    progress_.found_nobody();
                }
            }
            worker_.training.update_weights();  // 43
        }
        clean_up();
        return progress_.end(available_lock_.retries() + partner_lock_.retries());
    }

private:
    void set_available(int worker, bool available) { words_.store(at_.available + worker, available ? 1 : 0); }
    int partner_of(int worker) { return static_cast<int>(words_.load(at_.partner(worker))) - 1; }
    void set_partner(int worker, int partner) { words_.store(at_.partner(worker), partner + 1); }

    void enter() {
        available_lock_.lock();
        set_available(me_, true);
        available_lock_.unlock();
    }

    // Who has chosen this worker, else one it chooses, else nobody.
    int find_partner() {
        available_lock_.lock();                                            // 17
        partner_lock_.lock();                                              // 18
        int partner = partner_of(me_);                                     // 19, 30
        if (partner == nobody) {                                           // 20
            set_available(me_, false);                                     // 21
            partner = choose_available(worker_, at_.available, workers_);  // 22, 23
            if (partner != nobody) {
                set_available(partner, false);  // 24
                set_partner(me_, partner);      // 25
                set_partner(partner, me_);      // 26
            } else {
                set_available(me_, true);  // 28
            }
        }
        available_lock_.unlock();  // 31
        partner_lock_.unlock();    // 32
        return partner;
    }

    void leave_pair() {
        available_lock_.lock();    // 36
        partner_lock_.lock();      // 37
        set_partner(me_, nobody);  // 38
        set_available(me_, true);  // 39
        available_lock_.unlock();  // 40
        partner_lock_.unlock();    // 41
    }

    // Nobody can choose this worker afterwards; one who has already is not left waiting.
    void clean_up() {
        available_lock_.lock();                                              // 45
        partner_lock_.lock();                                                // 46
        set_available(me_, false);                                           // 47, 48
        const int partner = partner_of(me_);                                 // 50
        set_partner(me_, nobody);                                            // 52
        available_lock_.unlock();                                            // 53
        partner_lock_.unlock();                                              // 54
        if (partner != nobody) progress_.average_in_clean_up_with(partner);  // 51
    }

    int workers_, me_;
    const Worker& worker_;
    SharedWords& words_;
    GossipGcnWords at_;
    Lock available_lock_, partner_lock_;
    WorkPool pool_;
    Progress progress_;
};

}  // namespace

WorkerRecord train_gossip_gcn(const Settings& settings, const Worker& worker) {
    check_settings(settings, worker);
    return GossipGcn(settings, worker).train();
}

}  // namespace gnnbench::gossip
