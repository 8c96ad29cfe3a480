#include <gnnbench/batches/source.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

#include <gnnbench/random.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

BatchSource::~BatchSource() = default;

ClusterBatches::ClusterBatches(const IndexMap& clusters, const ClusterBatchSettings& settings)
    : clusters_(clusters), settings_(settings) {
    settings_.clusters_per_batch = std::min<std::int64_t>(settings_.clusters_per_batch, clusters.parts());
    std::vector<std::int64_t> sizes;
    for (Part p = 0; p < clusters.parts(); ++p) sizes.push_back(clusters.size(p));
    const auto largest = sizes.begin() + settings_.clusters_per_batch;
    std::partial_sort(sizes.begin(), largest, sizes.end(), std::greater<>());
    most_vertices_ = std::accumulate(sizes.begin(), largest, std::int64_t{0});
}

ClusterBatches::Run ClusterBatches::of_worker(std::int64_t worker) const {
    const std::int64_t least = clusters_.parts() / settings_.workers, more = clusters_.parts() % settings_.workers;
    const std::int64_t begin = worker * least + std::min(worker, more);
    return {begin, begin + least + (worker < more ? 1 : 0)};
}

std::int64_t ClusterBatches::batches() const {
    std::int64_t all = 0;
    for (std::int64_t w = 0; w < settings_.workers; ++w)
        all += (of_worker(w).size() + settings_.clusters_per_batch - 1) / settings_.clusters_per_batch;
    return all;
}

std::vector<Part> ClusterBatches::clusters_of(std::int64_t item) const {
    const std::int64_t worker = batch_of(item) % settings_.workers, round = batch_of(item) / settings_.workers;
    const Run run = of_worker(worker);
    std::vector<Part> order(usize(run.size()));
    std::iota(order.begin(), order.end(), static_cast<Part>(run.begin));
    if (settings_.shuffle) {
        // Fisher and Yates', with draws that are the same on every machine; std::shuffle's are the library's.
        RandomStream random(settings_.seed + 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(worker), Draw::batch,
                            static_cast<std::uint32_t>(epoch_of(item)));
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    }
    const std::int64_t first = round * settings_.clusters_per_batch,
                       last = std::min(first + settings_.clusters_per_batch, run.size());
    std::vector<Part> chosen(order.begin() + first, order.begin() + last);
    std::ranges::sort(chosen);
    return chosen;
}

std::vector<GlobalId> ClusterBatches::vertices(std::int64_t item) const {
    std::vector<GlobalId> all;
    for (const Part p : clusters_of(item)) {
        const auto owned = clusters_.owned(p);
        all.insert(all.end(), owned.begin(), owned.end());
    }
    std::ranges::sort(all);
    return all;
}

std::int64_t ClusterBatches::fixed_set(std::int64_t item) const {
    return settings_.clusters_per_batch == 1 ? std::int64_t{clusters_of(item).front()} : -1;
}

std::int64_t ClusterBatches::fixed_sets() const {
    return settings_.clusters_per_batch == 1 ? std::int64_t{clusters_.parts()} : 0;
}

}  // namespace gnnbench
