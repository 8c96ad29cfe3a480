// Greedy passes over the vertices. A move is taken where it lowers a smooth function of what it changes: for the most
// that a part sends, Σ_p (sent(p) ÷ mean)^8; for messages, Σ over pairs of parts, of each product, of m ÷ (m + 2), m
// the nets of p that q meets, which falls most where a pair has few. Connectivity−1 may rise by a share of its allowance
// more in each pass, so that the first vertices don't spend it all; for messages it also has a price, which halves from
// pass to pass.
#include "sending.hpp"

#include <algorithm>
#include <cmath>

namespace gnnbench::hypergraph {
namespace {

constexpr int passes = 8;

std::size_t at(PartId p) { return static_cast<std::size_t>(p); }

/// Changes to a few of many counters, in the order in which they were first named.
class Changes {
public:
    explicit Changes(std::size_t counters) : change_(counters), named_(counters) {}
    void add(std::size_t counter, std::int64_t by) {
        if (!named_[counter]) named_[counter] = 1, order_.push_back(counter);
        change_[counter] += by;
    }
    template <typename Use>
    void take(Use&& use) {
        for (const std::size_t counter : order_) {
            if (change_[counter] != 0) use(counter, change_[counter]);
            change_[counter] = 0;
            named_[counter] = 0;
        }
        order_.clear();
    }

private:
    std::vector<std::int64_t> change_;
    std::vector<char> named_;
    std::vector<std::size_t> order_;
};

/// What the parts send, in the counters that the objective is a function of: one for each part (max_volume), or for
/// each pair in each product.
class Sent {
public:
    Sent(const Partitioned& p, Sending objective)
        : p_(p),
          objective_(objective),
          two_products_(products(p.hypergraph()) == 2),
          counts_(objective == Sending::messages ? products(p.hypergraph()) * at(p.parts()) * at(p.parts())
                                                 : at(p.parts())),
          changes_(counts_.size()) {
        const Hypergraph& h = p.hypergraph();
        for (Id e = 0; e < h.net_count(); ++e) {
            const PartId owner = p.part_of(h.column[e]);
            p.for_each_met(e, [&](PartId part, Id) {
                if (part != owner) ++counts_[counter(e, owner, part)];
            });
        }
        if (objective == Sending::max_volume)
            scale_ = static_cast<double>(p.parts()) /
                     static_cast<double>(std::max<std::int64_t>(1, p.connectivity_minus_one()));
    }

    /// By how much the smooth function changes when v moves.
    double change(Id v, PartId to) {
        list_changes(v, to);
        double sum = 0;
        changes_.take(
            [&](std::size_t i, std::int64_t by) { sum += smooth(counts_[i] + by) - smooth(counts_[i]); });
        return sum;
    }

    /// To be called before v moves.
    void move(Id v, PartId to) {
        list_changes(v, to);
        changes_.take([&](std::size_t i, std::int64_t by) { counts_[i] += by; });
    }

    /// What one more of connectivity−1 must lower the smooth function by in the first pass; half of it in each next
    /// one.
    static double first_price(Sending objective) { return objective == Sending::messages ? 0.5 : 0; }

    /// The objective itself.
    std::int64_t value() const {
        if (objective_ == Sending::max_volume) return *std::max_element(counts_.begin(), counts_.end());
        return std::count_if(counts_.begin(), counts_.end(), [](std::int64_t m) { return m > 0; });
    }

    const std::vector<std::int64_t>& counts() const { return counts_; }

private:
    /// 2 where there are nets of the forward and of the backward product.
    static std::size_t products(const Hypergraph& h) {
        return h.first_row_net > 0 && h.first_row_net < h.net_count() ? 2 : 1;
    }

    std::size_t counter(Id e, PartId from, PartId to) const {
        if (objective_ != Sending::messages) return at(from);
        const bool second = two_products_ && e >= p_.hypergraph().first_row_net;
        return ((second ? at(p_.parts()) : 0) + at(from)) * at(p_.parts()) + at(to);
    }

    double smooth(std::int64_t count) const {
        const auto m = static_cast<double>(count);
        if (objective_ == Sending::messages) return m / (m + 2);
        const double squared = (m * scale_) * (m * scale_), fourth = squared * squared;
        return fourth * fourth;
    }

    void list_changes(Id v, PartId to) {
        const Hypergraph& h = p_.hypergraph();
        const PartId from = p_.part_of(v);
        for (const Id e : h.nets_of(v)) {
            const PartId owner = p_.part_of(h.column[e]);
            const bool leaves = p_.pins_in(e, from) == 1, enters = p_.pins_in(e, to) == 0;
            if (h.column[e] != v) {
                if (leaves) changes_.add(counter(e, owner, from), -1);
                if (enters) changes_.add(counter(e, owner, to), 1);
                continue;
            }
            // The owner itself moves, so all that is sent of the net is sent from elsewhere.
            p_.for_each_met(e, [&](PartId part, Id) {
                if (part != from) changes_.add(counter(e, from, part), -1);
                if (part != to && !(part == from && leaves)) changes_.add(counter(e, to, part), 1);
            });
        }
    }

    const Partitioned& p_;
    Sending objective_;
    bool two_products_;
    std::vector<std::int64_t> counts_;
    Changes changes_;
    double scale_ = 1;  ///< 1 ÷ the mean volume of a part at the start
};

class SendingRefiner {
public:
    SendingRefiner(Partitioned& p, Sending objective, const SendingLimits& limits)
        : p_(p),
          limits_(limits),
          objective_(objective),
          sent_(p, objective),
          volume_(p.connectivity_minus_one()),
          volume_at_first_(volume_),
          shared_(at(p.parts())) {}

    void run() {
        std::int64_t least = sent_.value();
        std::vector<PartId> best = p_.assignment();
        for (int pass = 1; pass <= passes; ++pass) {
            allowed_volume_ = volume_at_first_ + static_cast<std::int64_t>(limits_.more_volume * pass / passes *
                                                                           static_cast<double>(volume_at_first_));
            price_ = std::ldexp(Sent::first_price(objective_), 1 - pass);
            move_where_it_pays();
            if (sent_.value() < least) {
                least = sent_.value();
                best = p_.assignment();
            }
        }
        for (Id v = 0; v < p_.hypergraph().vertex_count(); ++v)
            if (p_.part_of(v) != best[v]) p_.move(v, best[v]);
    }

private:
    void move_where_it_pays() {
        for (Id v = 0; v < p_.hypergraph().vertex_count(); ++v) {
            const PartId to = best_part(v);
            if (to < 0) continue;
            sent_.move(v, to);
            volume_ -= p_.move(v, to);
        }
    }

    /// The part that lowers the smooth function most, among those that meet v's nets and have room; −1 if none does.
    PartId best_part(Id v) {
        const Hypergraph& h = p_.hypergraph();
        const PartId own = p_.part_of(v);
        met_.clear();
        NetWeight held = 0;  // of v's nets with another pin in its own part
        for (const Id e : h.nets_of(v)) {
            p_.for_each_met(e, [&](PartId part, Id count) {
                if (part == own) {
                    if (count > 1) held += h.net_weight[e];
                    return;
                }
                if (shared_[at(part)] == 0) met_.push_back(part);
                shared_[at(part)] += h.net_weight[e];
            });
        }
        PartId best = -1;
        double least = -1e-9;
        for (const PartId q : met_) {
            const std::int64_t more = held - shared_[at(q)];
            shared_[at(q)] = 0;
            if (volume_ + more > allowed_volume_ || p_.part_weight(q) + h.vertex_weight[v] > limits_.part_weight)
                continue;
            const double change =
                sent_.change(v, q) + price_ * static_cast<double>(std::max<std::int64_t>(0, more));
            if (change < least) least = change, best = q;
        }
        return best;
    }

    Partitioned& p_;
    SendingLimits limits_;
    Sending objective_;
    Sent sent_;
    std::int64_t volume_, volume_at_first_;  ///< connectivity−1
    std::int64_t allowed_volume_ = 0;
    double price_ = 0;               ///< of one more of connectivity−1, in the smooth function
    std::vector<NetWeight> shared_;  ///< length parts
    std::vector<PartId> met_;
};

}  // namespace

void lower_sending(Partitioned& partition, Sending objective, const SendingLimits& limits) {
    SendingRefiner(partition, objective, limits).run();
}

std::vector<std::int64_t> volume_sent(const Partitioned& partition) {
    return Sent(partition, Sending::max_volume).counts();
}

std::int64_t message_count(const Partitioned& partition) { return Sent(partition, Sending::messages).value(); }

}  // namespace gnnbench::hypergraph
