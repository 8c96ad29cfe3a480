#include "core/shared_operations.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include <sched.h>

namespace gnnbench {
namespace {

/// How a rank waits: it polls, then gives its core to others between polls, and after a long time sleeps until it is rung
/// for, so that a rank that waits for minutes holds nobody up. Where ranks outnumber cores it sleeps at once: what is
/// waited for needs the core. Nobody rings for what comes through MPI, so a sleep has an end, which grows with the wait.
class Patience {
public:
    Patience(bool crowded, const ProcessGroup& group, Bell& bell)
        : polls_left_(crowded ? 0 : polls), sleeps_(crowded), group_(group), bell_(bell) {}
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() {
        if (listens_) bell_.stop_listening();
    }

    void pause() {
        if (polls_left_ > 0) {
            --polls_left_;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
            return;
        }
        if (listens_) {
            bell_.sleep(nap_);
            nap_ = std::min(2 * nap_, longest_nap);
        }
        // Another rank may be inside MPI, and need this one's part of an operation there before it comes to what is
        // awaited here.
        group_.progress();
        if (sleeps_) {
            bell_.listen();
            listens_ = true;
        } else {
            sched_yield();
            sleeps_ = long_wait_is_over();
        }
    }

private:
    static constexpr int polls = 2000, yields_between_clocks = 16;
    static constexpr std::chrono::milliseconds long_wait{20};
    static constexpr std::chrono::microseconds first_nap{100}, longest_nap{2000};

    bool long_wait_is_over() {
        if (++yields_ % yields_between_clocks != 0) return false;
        const auto now = std::chrono::steady_clock::now();
        if (yields_ == yields_between_clocks) since_ = now;
        return now - since_ > long_wait;
    }

    int polls_left_;
    bool sleeps_, listens_ = false;
    std::int64_t yields_ = 0;
    std::chrono::steady_clock::time_point since_;
    std::chrono::microseconds nap_ = first_nap;
    const ProcessGroup& group_;
    Bell& bell_;
};

/// What the events of one operation share. Data may be touched again after the last of them is gone, so that one waits,
/// unless an exception is why: then the others may never come, and nothing more is read or written.
class Shared {
public:
    Shared(std::shared_ptr<SharedOperations> all, std::shared_ptr<SharedOperation> operation)
        : all_(std::move(all)), operation_(std::move(operation)) {}
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() {
        if (operation_->complete || completed()) return;
        operation_->take_all = nullptr;
        for (auto& t : operation_->taken) t.take = nullptr;
        for (auto& c : operation_->copies) c.written = false;
    }
    void wait(const std::function<bool()>& done) { all_->wait(done); }
    void poll() { all_->poll(); }
    const SharedOperation& operation() const { return *operation_; }

private:
    bool completed() noexcept {
        if (std::uncaught_exceptions() > 0) return false;
        try {
            wait([this] { return operation_->complete; });
        } catch (const std::exception&) {
            return false;  // nobody waits for the data either
        }
        return true;
    }

    std::shared_ptr<SharedOperations> all_;
    std::shared_ptr<SharedOperation> operation_;
};

class SharedEvent final : public EventState {
public:
    using Done = std::function<bool(const SharedOperation&)>;
    SharedEvent(std::shared_ptr<Shared> shared, Done done) : shared_(std::move(shared)), done_(std::move(done)) {}
    void wait_on_host() override {
        if (!done_(shared_->operation())) shared_->wait([this] { return done_(shared_->operation()); });
    }
    bool ready() override {
        if (!done_(shared_->operation())) shared_->poll();
        return done_(shared_->operation());
    }
    bool completed_by_host() const override { return true; }

private:
    std::shared_ptr<Shared> shared_;
    Done done_;
};

}  // namespace

bool SharedOperation::all_consumed() const {
    return std::ranges::all_of(offered, [](const Offered& o) { return o.consumed(); });
}

SharedOperations::SharedOperations(std::shared_ptr<SharedHostMemory> memory, HostMoves moves,
                                   std::vector<MappedRange> ranges, ProcessGroup progress, bool crowded)
    : memory_(std::move(memory)),
      moves_(std::move(moves)),
      ranges_(std::move(ranges)),
      progress_(std::move(progress)),
      crowded_(crowded) {}

void SharedOperations::add(std::shared_ptr<SharedOperation> operation) {
    pending_.push_back(std::move(operation));
    progress();
}

namespace {

/// Takes by `take`, and says so to the sender in any case: an error is the receiver's alone.
void take_by(auto&& take, auto&& consume) {
    try {
        take();
    } catch (...) {
        consume();
        throw;
    }
    consume();
}

}  // namespace

void SharedOperations::step(SharedOperation& o) {
    if (!o.all_taken) {
        if (o.take_all) {
            if (!std::ranges::all_of(o.taken, [](const auto& t) { return t.here(); })) return;
            std::vector<SharedOperation::Source> sources;
            for (const auto& t : o.taken) sources.push_back(t.source());
            const auto consume = [&] {
                for (auto& t : o.taken) t.consume();
            };
            take_by([&, take = std::exchange(o.take_all, nullptr)] { take(sources); }, consume);
        } else {
            for (auto& t : o.taken) {
                if (t.done || !t.here()) continue;
                take_by(
                    [&] {
                        if (t.take) t.take(t.source());
                    },
                    [&] { t.consume(); });
            }
        }
        o.all_taken = std::ranges::all_of(o.taken, [](const auto& t) { return t.done; });
    }
    if (!o.all_taken || !o.all_consumed()) return;
    for (const auto& c : o.copies) {
        if (c.written) std::memcpy(c.original, c.shared, c.bytes);
        memory_->free(c.shared);
    }
    o.complete = true;
}

void SharedOperations::progress() {
    for (auto o = pending_.begin(); o != pending_.end();) {
        step(**o);
        o = (*o)->complete ? pending_.erase(o) : std::next(o);
    }
}

void SharedOperations::poll() {
    progress();
    progress_.progress();
    if (crowded_) sched_yield();
}

void SharedOperations::wait(const std::function<bool()>& done) {
    Patience patience(crowded_, progress_, Bell::of(memory_->base()));
    for (;;) {
        progress();
        if (done()) return;
        patience.pause();
    }
}

Event event_of(std::shared_ptr<SharedOperations> all, std::shared_ptr<SharedOperation> operation) {
    if (operation->complete) return {};
    auto shared = std::make_shared<Shared>(std::move(all), std::move(operation));
    return Event(
        std::make_shared<SharedEvent>(std::move(shared), [](const SharedOperation& o) { return o.complete; }));
}

std::vector<Event> events_of_each(std::shared_ptr<SharedOperations> all,
                                  std::shared_ptr<SharedOperation> operation) {
    const std::size_t items = operation->taken.size();
    const auto shared = std::make_shared<Shared>(std::move(all), std::move(operation));
    std::vector<Event> events;
    for (std::size_t i = 0; i < items; ++i)
        events.emplace_back(
            std::make_shared<SharedEvent>(shared, [i](const SharedOperation& o) { return o.taken[i].done; }));
    events.emplace_back(
        std::make_shared<SharedEvent>(shared, [](const SharedOperation& o) { return o.complete; }));
    return events;
}

}  // namespace gnnbench
