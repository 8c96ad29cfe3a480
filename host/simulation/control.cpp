#include "simulation/control.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::simulation {

std::shared_ptr<Round> ControlGroup::fresh() const {
    auto round = std::make_shared<Round>();
    round->came.resize(members_.size());
    return round;
}

std::string ControlGroup::missing(const Round& round) const {
    constexpr int most = 6;
    std::string who;
    int missing = 0;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (!round.came[i] && ++missing <= most) who += fmt::format("{}{}", who.empty() ? "" : ", ", members_[i]);
    if (missing > most) who += fmt::format(" and {} more", missing - most);
    return who;
}

std::shared_ptr<Round> ControlGroup::meet(int place, const std::string& call,
                                          const std::function<void(Round&)>& contribute,
                                          const std::function<void(Round&)>& finish) {
    const std::shared_ptr<Round> round = round_;
    const int rank = members_[usize(place)];
    if (round->arrived == 0)
        round->call = call;
    else if (round->call != call)
        throw LogicError(fmt::format("simulated rank {} calls {} while others of its group of {} call {}", rank,
                                     call, members_.size(), round->call));
    contribute(*round);
    round->came[usize(place)] = true;
    round->latest_s = std::max(round->latest_s, engine_.rank(rank).host_s());
    if (++round->arrived == static_cast<int>(members_.size())) {
        round_ = fresh();
        finish(*round);
        round->over = true;
        for (const int member : members_)
            if (member != rank) engine_.wake(member, round->latest_s);
    }
    if (round->over) {
        // The last to come goes on at once: its host's clock may be ahead, and no one waits for it.
        double& host_s = engine_.rank(rank).state().host_s;
        host_s = std::max(host_s, round->latest_s);
        return round;
    }
    engine_.block(rank, [this, round] { return fmt::format("waits in {} for {}", round->call, missing(*round)); });
    return round;
}

void ControlGroup::post(int from, int to, Turns::Key key, Turns::Letter letter) {
    posted_[{from, to, key}] = std::move(letter);
    if (waiting_.erase({from, to, key}) > 0)
        engine_.wake(members_[usize(to)], engine_.rank(members_[usize(from)]).host_s());
}

Turns::Letter ControlGroup::collect(int from, int to, Turns::Key key) {
    const Address address{from, to, key};
    if (!posted_.contains(address)) {
        waiting_.insert(address);
        engine_.block(members_[usize(to)],
                      [this, from] { return fmt::format("waits for word of rank {}", members_[usize(from)]); });
    }
    auto node = posted_.extract(address);
    if (node.empty())
        return std::make_shared<const std::vector<std::byte>>();  // to one that leaves by an exception
    return std::move(node.mapped());
}

namespace {

/// A ProcessGroup over a ControlGroup.
class ControlMember final : public ProcessGroup::Implementation, public Turns {
public:
    ControlMember(std::shared_ptr<ControlGroup> group, int place) : group_(std::move(group)), place_(place) {}

    int rank() const override { return place_; }
    int size() const override { return static_cast<int>(group_->members().size()); }

    std::unique_ptr<Implementation> split(int color, int key) const override {
        const auto round = group_->meet(
            place_, "split",
            [&](Round& r) {
                r.texts.resize(usize(size()));
                r.texts[usize(place_)] = fmt::format("{} {}", color, key);
            },
            [&](Round& r) { divide(r); });
        const auto& [part, place] =
            *std::static_pointer_cast<std::pair<std::shared_ptr<ControlGroup>, int>>(round->made[usize(place_)]);
        return std::make_unique<ControlMember>(part, place);
    }
    std::unique_ptr<Implementation> split_by_host() const override {
        return split(group_->engine().machine().node_of(group_->members()[usize(place_)]), place_);
    }

    void barrier() const override {
        group_->meet(place_, "barrier", [](Round&) {}, [](Round&) {});
    }
    void broadcast(void* data, std::size_t bytes, int root) const override {
        const auto round = group_->meet(
            place_, fmt::format("broadcast of {} bytes from {}", bytes, root),
            [&](Round& r) {
                if (place_ == root) r.texts.assign(1, std::string(static_cast<const char*>(data), bytes));
            },
            [](Round&) {});
        if (place_ != root && bytes > 0) std::memcpy(data, round->texts.front().data(), bytes);
    }
    std::vector<double> sum(std::vector<double> values) const override {
        return reduced("sum", std::move(values), [](double a, double b) { return a + b; });
    }
    std::vector<double> maximum(std::vector<double> values) const override {
        return reduced("maximum", std::move(values), [](double a, double b) { return std::max(a, b); });
    }
    std::vector<std::string> gather(const std::string& text, int root) const override {
        const auto round = gathered(fmt::format("gather at {}", root), text);
        return place_ == root ? round->texts : std::vector<std::string>();
    }
    std::vector<std::string> all_gather(const std::string& text) const override {
        return gathered("all-gather", text)->texts;
    }
    SimulatedRank& simulated_rank() const { return group_->engine().rank(number()); }

    Turns* turns() override { return this; }
    double now_s() const override { return simulated_rank().host_s(); }
    void in_order() override {
        group_->engine().wake(number(), now_s());
        group_->engine().block(number(), [] { return std::string("waits for its turn"); });
    }
    void pass(double seconds) override { simulated_rank().host_works(seconds); }
    double reach_s(int rank) const override {
        const Machine& m = group_->engine().machine();
        const int other = group_->members()[usize(rank)];
        const double hop_s = m.node_of(other) == m.node_of(number()) ? 0 : m.links.network_hop_s;
        return m.links.message_s + 2 * hop_s;
    }
    void pace(double factor) override { simulated_rank().pace(factor); }
    void post(int to, Key key, Letter letter) override { group_->post(place_, to, key, std::move(letter)); }
    Letter collect(int from, Key key) override { return group_->collect(from, place_, key); }

private:
    int number() const { return group_->members()[usize(place_)]; }
    std::shared_ptr<Round> gathered(const std::string& call, const std::string& text) const {
        return group_->meet(
            place_, call,
            [&](Round& r) {
                r.texts.resize(usize(size()));
                r.texts[usize(place_)] = text;
            },
            [](Round&) {});
    }
    /// Summed in the order in which ranks come, which is the same in every run.
    std::vector<double> reduced(const char* call, std::vector<double> values, auto&& combine) const {
        return group_
            ->meet(
                place_, fmt::format("{} of {}", call, values.size()),
                [&](Round& r) {
                    if (r.arrived == 0)
                        r.values = values;
                    else
                        for (std::size_t i = 0; i < values.size(); ++i)
                            r.values[i] = combine(r.values[i], values[i]);
                },
                [](Round&) {})
            ->values;
    }
    /// Groups of equal color, each ordered by (key, rank).
    void divide(Round& r) const {
        std::map<int, std::vector<std::pair<int, int>>> colors;  // (key, place)
        for (int place = 0; place < size(); ++place) {
            const std::string& said = r.texts[usize(place)];
            const std::size_t blank = said.find(' ');
            colors[std::stoi(said.substr(0, blank))].emplace_back(std::stoi(said.substr(blank + 1)), place);
        }
        r.made.resize(usize(size()));
        for (auto& [color, ordered] : colors) {
            std::sort(ordered.begin(), ordered.end());
            std::vector<int> members;
            for (const auto& [key, place] : ordered) members.push_back(group_->members()[usize(place)]);
            const auto part = std::make_shared<ControlGroup>(group_->engine(), std::move(members));
            for (std::size_t i = 0; i < ordered.size(); ++i)
                r.made[usize(ordered[i].second)] =
                    std::make_shared<std::pair<std::shared_ptr<ControlGroup>, int>>(part, static_cast<int>(i));
        }
    }

    std::shared_ptr<ControlGroup> group_;
    int place_;
};

}  // namespace

SimulatedRank& rank_of(const ProcessGroup& member) {
    const auto* const control = dynamic_cast<const ControlMember*>(&member.implementation());
    if (!control) throw LogicError("simulation: this process is a rank itself");
    return control->simulated_rank();
}

ProcessGroup member_of(std::shared_ptr<ControlGroup> group, int place) {
    return ProcessGroup(std::make_unique<ControlMember>(std::move(group), place));
}

}  // namespace gnnbench::simulation
