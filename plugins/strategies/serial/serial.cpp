// Single-device training of a graph convolutional network (Kipf & Welling, ICLR 2017):
//   H^(l+1) = σ(Â H^(l) W^(l) + b^(l)),  Â the whole normalised adjacency matrix.
// Nothing is distributed, so nothing is communicated. The reference that exact strategies are checked against.
#include <fmt/format.h>

#include <gnnbench/training/layer_zero.hpp>
#include <gnnbench/training/row_parallel.hpp>

namespace gnnbench {
namespace {

class Serial final : public Strategy {
public:
    std::string why_unsupported(const Setting& s) const override {
        if (s.ranks != 1) return fmt::format("trains on one device; {} ranks given", s.ranks);
        return row_parallel_why_unsupported(s);
    }

    StatedVolume stated_volume(const Problem& p, int rank, std::int64_t element_bytes,
                               std::int64_t /*epoch*/) const override {
        return row_parallel_volume(
            narrowest_plan(p), [](Direction, std::int64_t) { return Volume(); }, 1, rank, element_bytes);
    }

    std::int64_t stated_memory(const Problem& p, int rank, std::int64_t element_bytes) const override {
        return row_parallel_memory(
            narrowest_plan(p), p, rank, [](MemoryStatement&, std::int64_t) {}, element_bytes);
    }

    AnyTrainer make_trainer(const Problem& p, Rank rank) const override {
        return make_row_parallel_trainer(p, rank, narrowest_plan(p), [&](const Adjacency& a, std::int64_t) {
            return make_whole_spmm(a, p.index, rank.backend);
        });
    }
};

constexpr ParamDecl parameters[] = {
    {trainable_features, ParamType::boolean, "false", 0, 0, nullptr,
     "train the input features along with the weights"},
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(strategy, gnnbench::Serial, "serial", "1.2.0",
                "single-device training: the reference and the baseline of speed-ups", gnnbench::parameters)
