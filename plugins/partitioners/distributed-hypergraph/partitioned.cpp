#include "partitioned.hpp"

#include <algorithm>

namespace gnnbench::distributed {

Partitioned::Partitioned(const Ranks& ranks, const Level& level, PartId parts, std::vector<PartId> part_of)
    : ranks_(ranks),
      level_(level),
      parts_(parts),
      part_of_(std::move(part_of)),
      part_weight_(usize(parts)),
      met_(level.nets.size()),
      net_changed_(level.nets.size()),
      pins_in_(usize(parts)) {
    part_of_.resize(level.vertices.size());
    level.vertices.push(ranks, part_of_);
    for (Id v = 0; v < level.vertices.owned(); ++v) part_weight_[usize(part_of_[v])] += level.vertex_weight[v];
    part_weight_ = ranks.sum(part_weight_);
    refresh(std::vector<char>(level.vertices.size(), 1));
}

Weight Partitioned::heaviest() const { return *std::ranges::max_element(part_weight_); }

void Partitioned::move(std::span<const Move> moves) {
    std::vector<char> moved(level_.vertices.size());
    std::vector<Weight> delta(usize(parts_));
    for (const Move& m : moves) {
        moved[m.vertex] = 1;
        delta[usize(part_of_[m.vertex])] -= level_.vertex_weight[m.vertex];
        delta[usize(m.to)] += level_.vertex_weight[m.vertex];
        part_of_[m.vertex] = m.to;
    }
    delta = ranks_.sum(delta);
    for (std::size_t p = 0; p < delta.size(); ++p) part_weight_[p] += delta[p];
    level_.vertices.push_changed(ranks_, part_of_, moved, [&](Id ghost) { moved[ghost] = 1; });
    refresh(moved);
}

void Partitioned::refresh(const std::vector<char>& moved) {
    std::vector<char> changed(level_.nets.owned());
    std::vector<PartId> met;
    std::vector<std::uint32_t> words;
    for (Id e = 0; e < level_.nets.owned(); ++e) {
        const auto pins = level_.pins_of->of(e);
        if (std::ranges::none_of(pins, [&](Id v) { return moved[v] != 0; })) continue;
        for (const Id v : pins)
            if (pins_in_[usize(part_of_[v])]++ == 0) met.push_back(part_of_[v]);
        std::ranges::sort(met);
        for (const PartId p : met) {
            words.push_back(static_cast<std::uint32_t>(p) << 1 | (pins_in_[usize(p)] == 1 ? 1U : 0U));
            pins_in_[usize(p)] = 0;
        }
        const auto before = met_.of(e);
        if (!std::ranges::equal(before, words)) {
            changed[e] = net_changed_[e] = 1;
            own_cut_ += level_.net_weight[e] * (std::ssize(words) - std::max<std::int64_t>(1, std::ssize(before)));
            met_.set(e, words);
        }
        met.clear(), words.clear();
    }
    met_.push_changed(ranks_, level_.nets, changed, [&](Id ghost) { net_changed_[ghost] = 1; });
    cut_ = ranks_.sum(own_cut_);
}

}  // namespace gnnbench::distributed
