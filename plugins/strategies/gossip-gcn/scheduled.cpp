// Algorithm 6 with lines 17 to 32 and 36 to 41 replaced by a schedule that all know: at the end of its k-th interval a
// worker waits for its partner of round k. tests/protocol/spin/scheduled.pml is the model.
//   11, 12      workers take batches from the pool, so one may never come to a round that another waits in
//   45 to 54    who leaves says so, and those who wait for it, or will, go on without an averaging
#include "scheduled.hpp"

#include "progress.hpp"

namespace gnnbench::gossip {

int scheduled_partner(Schedule schedule, int workers, int worker, std::int64_t round) {
    if (schedule == Schedule::pairs) {
        const int partner = worker % 2 == 0 ? worker + 1 : worker - 1;
        return partner < workers ? partner : nobody;
    }
    // The circle method: the sum of two partners is the round's, but for the last worker and the one whose double it is.
    // Where workers are odd in number, the last is nobody.
    const int last = workers + workers % 2 - 1;
    const auto sum = static_cast<int>((round - 1) % last);
    int partner = (sum - worker % last + last) % last;
    if (worker == last)
        partner = sum % 2 == 0 ? sum / 2 : (sum + last) / 2;
    else if (partner == worker)
        partner = last;
    return partner < workers ? partner : nobody;
}

namespace {

class Scheduled {
public:
    Scheduled(const Settings& settings, const Worker& worker)
        : schedule_(settings.schedule),
          workers_(settings.workers),
          me_(worker.id),
          worker_(worker),
          words_(worker.words),
          pool_(words_, ScheduledWords::next_item, settings.items),
          progress_(settings, worker) {}

    WorkerRecord train() {
        while (const auto item = pool_.take()) {  // 11, 12
            progress_.train(*item);               // 13 to 15
            if (progress_.interval_ended()) {     // 16
                const int partner = come_to_next_round();
                if (partner != nobody)                // 33
                    progress_.average_with(partner);  // 34, 35
                else
                    progress_.found_nobody();
            }
            worker_.training.update_weights();  // 43
        }
        words_.fetch_and_add(ScheduledWords::rounds(me_), ScheduledWords::has_left);
        return progress_.end(0);
    }

private:
    /// The partner, who has come to this round and waits in it; or nobody.
    int come_to_next_round() {
        const std::int64_t round = words_.fetch_and_add(ScheduledWords::rounds(me_), 1) + 1;
        const int partner = scheduled_partner(schedule_, workers_, me_, round);
        if (partner == nobody) return nobody;
        for (int attempt = 1;; ++attempt) {
            const std::int64_t theirs = words_.fetch_and_add(ScheduledWords::rounds(partner), 0);
            // Who has come leaves the round only with this worker.
            if (theirs % ScheduledWords::has_left >= round) return partner;
            if (theirs >= ScheduledWords::has_left) return nobody;
            words_.back_off(attempt);
        }
    }

    Schedule schedule_;
    int workers_, me_;
    const Worker& worker_;
    SharedWords& words_;
    WorkPool pool_;
    Progress progress_;
};

}  // namespace

WorkerRecord train_scheduled(const Settings& settings, const Worker& worker) {
    check_settings(settings, worker);
    return Scheduled(settings, worker).train();
}

}  // namespace gnnbench::gossip
