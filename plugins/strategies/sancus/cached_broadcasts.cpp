#include "cached_broadcasts.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

namespace gnnbench::sancus {
namespace {

constexpr std::array both_directions{Direction::forward, Direction::backward};

/// One layer's rows of every rank as they were last sent, and how many epochs ago.
struct Cache {
    std::vector<Matrix> rows;       ///< [parts]; this rank's own only where it is kept
    std::vector<std::int64_t> age;  ///< [parts]
};

/// Whether the rows of part j are kept by the rank of `part`.
bool keeps(const CachedLayer& layer, const Policy& policy, Part part, Part j) {
    return j != part || layer.keeps_own(policy);
}

class CachedBroadcasts final : public StagedSpmm {
public:
    CachedBroadcasts(const Problem& p, const Adjacency& a, Rank rank, const LayerPlan& plan, const Policy& policy)
        : StagedSpmm(rank.backend),
          rows_(a, p.index, rank.world.rank(), rank.backend),
          index_(p.index),
          world_(rank.world),
          policy_(policy),
          layers_(cached_layers(p, plan)) {
        const Part ranks = world_.size();
        if (ranks == 1) return;
        receive_ = {backend_, index_.largest(), plan.received_columns(both_directions)};
        caches_.resize(layers_.size());
        for (std::size_t l = 0; l < layers_.size(); ++l) {
            if (!layers_[l].caches(policy_)) continue;
            caches_[l].age.assign(usize(ranks), 0);
            for (Part j = 0; j < ranks; ++j) {
                const std::int64_t rows = keeps(layers_[l], policy_, world_.rank(), j) ? index_.size(j) : 0;
                caches_[l].rows.push_back(
                    backend_.matrix(rows, plan.layer(static_cast<int>(l)).width(Direction::forward)));
            }
        }
        if (policy_.when != Policy::When::change) return;
        if (!backend_.holds_values())
            throw Unsupported("policy: change needs the rows themselves, and this back end computes none");
        distance_ = backend_.upload(std::span<const double>(std::array{0.0, 0.0}));
        sends_ = backend_.upload(std::span<const double>(std::vector<double>(usize(ranks))));
    }

    void begin_epoch(std::int64_t epoch) override {
        trains_ = true;
        epoch_ = epoch;
    }
    void begin_evaluation() override { trains_ = false; }
    void begin_layer(int l) override {
        layer_ = usize(l);
        receive_.begin_layer(l);
    }
    void accumulate(Direction d, BlockSum& sum) override {
        const CachedLayer& layer = layers_[layer_];
        const bool cached = trains_ && world_.size() > 1 && layer.caches(policy_);
        const bool takes_cached = cached && d == Direction::forward;
        if (takes_cached && !sum.again()) update(sum.operand());
        for (Part j = 0; j < world_.size(); ++j) {
            const MatrixView b_j = takes_cached ? cached_rows(j, sum.operand()) : broadcast(j, sum.operand());
            const Stage stage{.first = j == 0, .last = j == world_.size() - 1};
            const PreparedMatrix& a_ij = rows_.block(d, j);
            if (!stage.first && !stage.last && a_ij.nonzeros == 0) continue;
            const bool as_sent = j != world_.rank() || policy_.own_cached;
            if (cached && layer.attends && d == Direction::backward && as_sent)
                sum.add_for(a_ij, b_j, caches_[layer_].rows[usize(world_.rank())], stage);
            else
                sum.add(a_ij, b_j, stage);
        }
    }
    std::vector<RowAges> row_ages() const override {
        std::vector<RowAges> ages;
        for (std::size_t l = 0; l < caches_.size(); ++l) {
            if (!layers_[l].caches(policy_) || layers_[l].constant) continue;
            RowAges a{.layer = layers_[l].model_layer};
            for (Part j = 0; j < world_.size(); ++j) {
                if (j == world_.rank()) continue;
                const std::int64_t rows = index_.size(j), age = caches_[l].age[usize(j)];
                a.rows += rows;
                a.sum_epochs += rows * age;
                if (rows > 0) a.most_epochs = std::max(a.most_epochs, age);
            }
            ages.push_back(a);
        }
        return ages;
    }
    std::string notes() const override { return fmt::format("blocks: {}", rows_.formats()); }

private:
    /// H_j ← broadcast from rank j
    MatrixView broadcast(Part j, MatrixView h_i) {
        const MatrixView h_j = j == world_.rank() ? h_i : receive_.view(index_.size(j), h_i.cols);
        world_.broadcast_now(h_j, j);
        return h_j;
    }

    /// The rows of part j that this epoch computes with.
    MatrixView cached_rows(Part j, MatrixView h_i) {
        const bool own = j == world_.rank();
        return own && !(policy_.own_cached && !layers_[layer_].constant) ? h_i
                                                                         : caches_[layer_].rows[usize(j)].view();
    }

    /// Broadcasts what is not fresh enough.
    void update(MatrixView h_i) {
        Cache& cache = caches_[layer_];
        const Part i = world_.rank();
        const std::vector<bool> sends = who_sends(h_i);
        for (Part j = 0; j < world_.size(); ++j) {
            if (!sends[usize(j)]) {
                ++cache.age[usize(j)];
                continue;
            }
            cache.age[usize(j)] = 0;
            world_.broadcast_now(j == i ? h_i : cache.rows[usize(j)].view(), j);
            if (j == i && layers_[layer_].keeps_own(policy_)) backend_.copy(h_i, cache.rows[usize(i)]);
        }
    }

    /// By part; the same on all ranks.
    std::vector<bool> who_sends(MatrixView h_i) {
        const CachedLayer& layer = layers_[layer_];
        const auto ranks = usize(world_.size());
        if (!layer.decides_by_change(policy_) || epoch_ == 0)
            return std::vector<bool>(ranks, layer.sends(policy_, epoch_));
        const auto i = usize(world_.rank());
        // Written so that rows of NaN are sent.
        const double mine = caches_[layer_].age[i] >= policy_.most_epochs || !(change(h_i) < policy_.least_change);
        backend_.upload_bytes(&mine, sends_.data() + i, sizeof mine);
        const std::vector<std::int64_t> one_each(ranks, 1);
        const auto count = static_cast<std::int64_t>(ranks);
        world_.all_gather_now({sends_.data(), count, 1, 1, DType::f64}, one_each, Content::metadata);
        std::vector<double> all(ranks);
        backend_.download_bytes(sends_.data(), all.data(), ranks * sizeof(double));
        std::vector<bool> sends;
        for (const double sent : all) sends.push_back(sent != 0);
        return sends;
    }

    /// ‖H_i − H_i as sent‖_F / ‖H_i as sent‖_F
    double change(MatrixView h_i) {
        backend_.squared_distance(h_i, caches_[layer_].rows[usize(world_.rank())], distance_.data());
        std::array<double, 2> sums{};
        backend_.download_bytes(distance_.data(), sums.data(), sizeof sums);
        const auto [apart, size] = sums;
        if (apart == 0) return 0;
        return size > 0 ? std::sqrt(apart / size) : INFINITY;
    }

    PreparedBlocks rows_;
    const IndexMap& index_;
    Communicator& world_;
    Policy policy_;
    std::vector<CachedLayer> layers_;
    bool trains_ = false;
    std::int64_t epoch_ = 0;
    std::size_t layer_ = 0;
    LayerwiseBuffers receive_;        // [max n_j × widest]
    std::vector<Cache> caches_;       ///< by layer of the plan
    Array<double> distance_, sends_;  ///< [2]; [parts]
};

}  // namespace

std::vector<CachedLayer> cached_layers(const Problem& p, const LayerPlan& plan) {
    std::vector<CachedLayer> layers;
    for (int l = 0; l < plan.size(); ++l) {
        const LayerSpec& of = plan.spec(l);
        const bool attends = of.attention.has_value();  // to XW, which changes with W
        layers.push_back({.model_layer = of.model_layer,
                          .aggregates = plan.layer(l).width(Direction::forward) > 0,
                          .constant = l == 0 && !attends && p.train.input_dropout == 0 && !plan.trains_input(),
                          .attends = attends});
    }
    return layers;
}

std::unique_ptr<DistributedSpmm> make_cached_broadcasts(const Problem& p, const Adjacency& a, Rank rank,
                                                        const LayerPlan& plan, const Policy& policy) {
    return std::make_unique<CachedBroadcasts>(p, a, rank, plan, policy);
}

void state_cached_broadcasts(MemoryStatement& m, const Problem& p, Part part, const LayerPlan& plan,
                             const Policy& policy) {
    const Part parts = p.index.parts();
    if (parts == 1) return;
    LayerwiseBuffers::state_memory(m, p.index.largest(), plan.received_columns(both_directions));
    const std::vector<CachedLayer> layers = cached_layers(p, plan);
    for (std::size_t l = 0; l < layers.size(); ++l) {
        if (!layers[l].caches(policy)) continue;
        for (Part j = 0; j < parts; ++j)
            if (keeps(layers[l], policy, part, j))
                m.matrix(p.index.size(j), plan.layer(static_cast<int>(l)).width(Direction::forward));
    }
    if (policy.when == Policy::When::change) m.list<double>(2 + parts);
}

}  // namespace gnnbench::sancus
