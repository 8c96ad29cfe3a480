// Algorithm 6 with lines 17 to 32 and 36 to 41 replaced by requests: who ends an interval accepts a request that has come,
// else asks one that it draws and waits for the answer. tests/protocol/spin/requested.pml is the model.
//   while a worker waits, it refuses others, so that nobody waits for one that waits. No circle depends on that here, because
//               a worker looks for requests and asks in one critical section; with messages one would
//   45 to 54    who leaves refuses those who ask it: nobody waits for it, so it has nothing to average for
#include "requested.hpp"

#include <optional>

#include <gnnbench/usize.hpp>

#include "progress.hpp"

namespace gnnbench::gossip {
namespace {

class Requested {
public:
    Requested(const Settings& settings, const Worker& worker)
        : workers_(settings.workers),
          me_(worker.id),
          worker_(worker),
          words_(worker.words),
          at_(settings.workers),
          lock_(words_, at_.lock, me_),
          pool_(words_, at_.next_item, settings.items),
          progress_(settings, worker) {}

    WorkerRecord train() {
        while (const auto item = pool_.take()) {  // 11, 12
            progress_.train(*item);               // 13 to 15
            if (progress_.interval_ended()) {     // 16
                const int partner = find_partner();
                if (partner != nobody)                // 33
                    progress_.average_with(partner);  // 34, 35
                else
                    progress_.found_nobody();
            }
            worker_.training.update_weights();  // 43
        }
        leave();
        return progress_.end(lock_.retries());
    }

private:
    int find_partner() {
        if (workers_ == 1) return nobody;
        const int asked = draw_other();
        lock_.lock();
        const int accepted = answer_one();
        const bool asks = accepted == nobody && words_.load(at_.left(asked)) == 0;
        if (asks) words_.store(at_.request + me_, asked + 1);
        lock_.unlock();
        if (!asks) return accepted;
        return wait_for_answer() ? asked : nobody;
    }

    /// Each of the others as likely, whether it has left or not: that is for the answer to say.
    int draw_other() {
        const auto drawn = static_cast<int>(worker_.random.below(static_cast<std::uint64_t>(workers_ - 1)));
        return drawn < me_ ? drawn : drawn + 1;
    }

    bool wait_for_answer() {
        for (int attempt = 1;; ++attempt) {
            lock_.lock();
            const std::int64_t answer = words_.load(at_.request + me_);
            if (answer < 0)
                words_.store(at_.request + me_, 0);
            else
                refuse_all();
            lock_.unlock();
            if (answer < 0) return answer == at_.accepted;
            words_.back_off(attempt);
        }
    }

    /// Nobody can ask this worker afterwards.
    void leave() {
        lock_.lock();
        words_.store(at_.left(me_), 1);
        refuse_all();
        lock_.unlock();
    }

    // The caller of these holds the lock.

    /// Accepts one of those who ask this worker, each as likely, and refuses the others. Whom it has accepted.
    int answer_one() {
        const std::vector<int> asking = who_asks_me();
        if (asking.empty()) return nobody;
        const int chosen = asking[worker_.random.below(asking.size())];
        for (const int other : asking) answer(other, other == chosen ? at_.accepted : at_.refused);
        return chosen;
    }
    void refuse_all() {
        for (const int other : who_asks_me()) answer(other, at_.refused);
    }
    void answer(int other, std::int64_t answer) { words_.store(at_.request + other, answer); }
    std::vector<int> who_asks_me() {
        std::vector<std::int64_t> requests(usize(workers_));
        words_.load(at_.request, requests);
        std::vector<int> asking;
        for (int other = 0; other < workers_; ++other)
            if (requests[usize(other)] == me_ + 1) asking.push_back(other);
        return asking;
    }

    int workers_, me_;
    const Worker& worker_;
    SharedWords& words_;
    RequestedWords at_;
    Lock lock_;
    WorkPool pool_;
    Progress progress_;
};

}  // namespace

WorkerRecord train_requested(const Settings& settings, const Worker& worker) {
    check_settings(settings, worker);
    return Requested(settings, worker).train();
}

}  // namespace gnnbench::gossip
