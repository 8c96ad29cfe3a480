#include "simulation/stream.hpp"

#include <algorithm>

#include <gnnbench/error.hpp>

namespace gnnbench::simulation {

void Moment::become(double time_s) {
    known_ = true;
    time_s_ = time_s;
    for (Stream* s : std::exchange(streams_, {})) s->proceed();
    if (host_) std::exchange(host_, nullptr)->happens(tag_);
}

void MomentEvent::wait_on_host() {
    throw LogicError("a simulated event is waited for by a stream, not by the host");
}

void Stream::work(double issued_s, double alone_s, double memory_share, Action action) {
    push({.kind = Kind::work,
          .issued_s = issued_s,
          .alone_s = alone_s,
          .memory_share = memory_share,
          .action = std::move(action)});
}
void Stream::act(double issued_s, Action action) {
    push({.kind = Kind::act, .issued_s = issued_s, .action = std::move(action)});
}
void Stream::record(double issued_s, std::shared_ptr<Moment> moment) {
    push({.kind = Kind::record, .issued_s = issued_s, .moment = std::move(moment)});
}
void Stream::wait(double issued_s, std::shared_ptr<Moment> moment) {
    push({.kind = Kind::wait, .issued_s = issued_s, .moment = std::move(moment)});
}
void Stream::mark(double issued_s, double& slot) {
    push({.kind = Kind::mark, .issued_s = issued_s, .slot = &slot});
}
void Stream::take_part(double issued_s, std::shared_ptr<Participation> part) {
    push({.kind = Kind::part, .issued_s = issued_s, .part = std::move(part)});
}

void Stream::push(Item item) {
    items_.push_back(std::move(item));
    if (!busy_) advance();
}

/// Begins items until one takes time.
void Stream::advance() {
    while (!items_.empty()) {
        Item& item = items_.front();
        const double time_s = std::max(free_s_, item.issued_s);
        busy_ = true;
        if (!begin(item, time_s)) return;
        busy_ = false;
        items_.pop_front();
    }
}

/// Whether the item is over at once, which advances the stream's time to when.
bool Stream::begin(Item& item, double time_s) {
    switch (item.kind) {
        case Kind::record: {
            free_s_ = time_s;
            // Whoever waits may give this stream more: the item must be gone by then.
            const std::shared_ptr<Moment> moment = std::move(item.moment);
            moment->become(time_s);
            return true;
        }
        case Kind::act:
            free_s_ = time_s;
            act_at(time_s, std::move(item.action));
            return true;
        case Kind::mark:
            free_s_ = time_s;
            *item.slot = time_s;
            return true;
        case Kind::wait:
            if (!item.moment->known()) {
                item.moment->resume(*this);
                return false;
            }
            free_s_ = std::max(time_s, item.moment->time_s());
            return true;
        case Kind::work:
        case Kind::part:
            break;
    }
    if (time_s > timeline_.now_s())
        timeline_.at(time_s, *this, 0);
    else
        happens(0);
    return false;
}

/// The stream may know its times before they come, as those of messages under way; contents change when they come.
void Stream::act_at(double time_s, Action action) {
    if (time_s <= timeline_.now_s() && actions_.empty()) return action();
    actions_.push_back(std::move(action));
    timeline_.at(time_s, *this, 2);
}

/// Tag 0: the first item's time has come; 1: its work is done; 2: that of the first action.
void Stream::happens(std::uint64_t tag) {
    if (tag == 1) return proceed();
    if (tag == 2) {
        const Action action = std::move(actions_.front());
        actions_.pop_front();
        return action();
    }
    const Item& item = items_.front();
    if (item.kind == Kind::part) return item.part->arrive(*this);
    const Demand demand{memory_, item.memory_share};
    sharing_.start(item.alone_s, std::span(&demand, item.memory_share > 0 ? 1 : 0), *this, 1);
}

void Stream::proceed() {
    require(busy_ && !items_.empty(), "a stream without an item was told to proceed");
    Item& item = items_.front();
    free_s_ =
        std::max({free_s_, item.issued_s, item.kind == Kind::wait ? item.moment->time_s() : timeline_.now_s()});
    const Action action = std::move(item.action);
    items_.pop_front();
    if (action) action();
    busy_ = false;
    advance();
}

std::string Stream::what() const {
    if (items_.empty()) return "idle";
    const Item& item = items_.front();
    if (item.kind == Kind::part) return item.part->what();
    return item.kind == Kind::wait ? "waits for an event of another stream" : "computes";
}

}  // namespace gnnbench::simulation
