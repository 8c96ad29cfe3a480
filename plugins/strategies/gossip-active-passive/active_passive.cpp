// Algorithm 5 of the thesis (gossip gradient averaging using active and passive worker sets); line numbers are its own.
// Departures, each of which tests/protocol/spin derives from a trace of the printed algorithm:
//   14, 15 and 32, 34   one fetch-and-add: a worker that saw an item left could wait for it for ever
//   5                   available_workers starts empty, and a passive worker enters with its first gradient: one that
//                       finds the pool empty has none to average
//   23                  p_x is written under its own lock: between lines 38 and 39 it would be lost
//   48                  removes the worker if it is there: an active worker may have taken it
#include "active_passive.hpp"

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "progress.hpp"

namespace gnnbench::gossip {
namespace {

class ActivePassive {
public:
    ActivePassive(const Settings& settings, const Worker& worker)
        : me_(worker.id),
          worker_(worker),
          words_(worker.words),
          at_(settings.workers),
          available_lock_(words_, at_.available_lock, me_),
          pool_(words_, at_.next_item, settings.items),
          progress_(settings, worker) {}

    WorkerRecord train() {
        if (me_ >= at_.passive) {  // 10
            train_active();
        } else {
            train_passive();
            clean_up();
        }
        return progress_.end(available_lock_.retries() + partner_lock_retries_);
    }

private:
    void train_active() {
        while (const auto item = pool_.take()) {  // 14, 15
            progress_.train(*item);               // 16 to 18
            if (progress_.interval_ended()) {     // 19
                const int partner = choose_partner();
                if (partner != nobody)                // 26
                    progress_.average_with(partner);  // 27
                else
                    progress_.found_nobody();
            }
            worker_.training.update_weights();  // 29
        }
    }

    void train_passive() {
        while (const auto item = pool_.take()) {              // 32, 34
            progress_.train(*item);                           // 35, 36
            if (progress_.first_batch()) become_available();  // 5
            const int partner = take_partner();
            if (partner != nobody) {              // 40
                progress_.average_with(partner);  // 41
                become_available();
            }
            worker_.training.update_weights();  // 45
        }
    }

    int choose_partner() {
        available_lock_.lock();                                                     // 20
        const int partner = choose_available(worker_, at_.available, at_.passive);  // 21, 22
        if (partner != nobody) {
            Lock lock = partner_lock(partner);
            lock.lock();
            words_.store(at_.partner(partner), me_ + 1);  // 23
            lock.unlock();
            partner_lock_retries_ += lock.retries();
            words_.store(at_.available + partner, 0);  // 24
        }
        available_lock_.unlock();  // 25
        return partner;
    }

    // The active worker that has chosen this passive one. Read once: it is no longer written there.
    int take_partner() {
        Lock lock = partner_lock(me_);
        lock.lock();                                                              // 37, 50
        const int partner = static_cast<int>(words_.load(at_.partner(me_))) - 1;  // 38, 51
        words_.store(at_.partner(me_), 0);                                        // 39, 52
        lock.unlock();
        partner_lock_retries_ += lock.retries();
        return partner;
    }

    void become_available() {
        available_lock_.lock();                // 42
        words_.store(at_.available + me_, 1);  // 43
        available_lock_.unlock();              // 44
    }

    // Nobody can choose this worker afterwards; one who has already is not left waiting.
    void clean_up() {
        available_lock_.lock();                // 47
        words_.store(at_.available + me_, 0);  // 48
        available_lock_.unlock();              // 49
        const int partner = take_partner();
        if (partner != nobody) progress_.average_in_clean_up_with(partner);  // 53, 54
    }

    Lock partner_lock(int worker) { return {words_, at_.partner_lock(worker), me_}; }

    int me_;
    const Worker& worker_;
    SharedWords& words_;
    ActivePassiveWords at_;
    Lock available_lock_;
    WorkPool pool_;
    Progress progress_;
    std::int64_t partner_lock_retries_ = 0;
};

}  // namespace

WorkerRecord train_active_passive(const Settings& settings, const Worker& worker) {
    check_settings(settings, worker);
    if (settings.workers % 2 != 0)
        throw LogicError(
            fmt::format("{} workers: half of them are active, so expected an even number", settings.workers));
    return ActivePassive(settings, worker).train();
}

}  // namespace gnnbench::gossip
