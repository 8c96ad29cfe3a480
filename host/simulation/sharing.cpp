#include "simulation/sharing.hpp"

#include <algorithm>

namespace gnnbench::simulation {

void Sharing::start(double alone_s, std::span<const Demand> demands, Happening& done, std::uint64_t tag) {
    std::size_t number = activities_.size();
    if (free_.empty()) {
        activities_.emplace_back();
    } else {
        number = free_.back();
        free_.pop_back();
    }
    Activity& a = activities_[number];
    a.left_s = alone_s;
    a.updated_s = timeline_.now_s();
    a.demands.assign(demands.begin(), demands.end());
    a.done = &done;
    a.tag = tag;
    for (const Demand& d : demands) {
        resources_[d.resource].users.push_back({number, d.share});
        changed(d.resource, number);
    }
    find_scarcest(activities_[number]);
    schedule(number);
}

void Sharing::happens(std::uint64_t tag) {
    const auto number = static_cast<std::size_t>(tag >> 32);
    if (activities_[number].version == static_cast<std::uint32_t>(tag)) end(number);
}

void Sharing::end(std::size_t number) {
    Activity& a = activities_[number];
    ++a.version;
    const std::vector<Demand> demands = std::move(a.demands);
    Happening& done = *a.done;
    const std::uint64_t tag = a.tag;
    for (const Demand& d : demands) {
        auto& users = resources_[d.resource].users;
        users.erase(std::ranges::find(users, number, &Resource::User::activity));
    }
    free_.push_back(number);
    for (const Demand& d : demands) changed(d.resource, number);
    done.happens(tag);
}

/// A resource's users are others than before: those but `but` change their pace if this one decides it.
void Sharing::changed(std::size_t resource, std::size_t but) {
    Resource& r = resources_[resource];
    const double before = r.slowdown;
    // Added up anew each time, so that what has ended leaves no rounding error behind.
    double demand = 0;
    for (const Resource::User& user : r.users) demand += user.share;
    r.slowdown = std::max(1.0, demand);
    if (r.slowdown == before) return;
    for (const auto& [user, share] : r.users) {
        if (user == but) continue;
        Activity& a = activities_[user];
        const double pace = a.slowdown;
        if (r.slowdown > a.slowdown) {
            a.slowdown = r.slowdown;
            a.scarcest = 1;
        } else {
            a.scarcest += (r.slowdown == a.slowdown) - (before == a.slowdown);
            if (a.scarcest == 0) find_scarcest(a);
        }
        if (a.slowdown != pace) set_pace(user, pace);
    }
}

void Sharing::find_scarcest(Activity& a) const {
    a.slowdown = 1;
    a.scarcest = 0;
    for (const Demand& d : a.demands) {
        const double s = resources_[d.resource].slowdown;
        if (s > a.slowdown) a.slowdown = s, a.scarcest = 0;
        a.scarcest += s == a.slowdown;
    }
}

/// What was done at the pace before is done; the rest takes the new one.
void Sharing::set_pace(std::size_t number, double slowdown_before) {
    Activity& a = activities_[number];
    a.left_s = std::max(0.0, a.left_s - (timeline_.now_s() - a.updated_s) / slowdown_before);
    a.updated_s = timeline_.now_s();
    schedule(number);
}

void Sharing::schedule(std::size_t number) {
    Activity& a = activities_[number];
    ++a.version;
    timeline_.at(timeline_.now_s() + a.left_s * a.slowdown, *this,
                 static_cast<std::uint64_t>(number) << 32 | a.version);
}

}  // namespace gnnbench::simulation
