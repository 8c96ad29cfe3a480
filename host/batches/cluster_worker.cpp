#include <gnnbench/batches/cluster_worker.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <gnnbench/training/parameters.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {

PartitionNeed clusters_needed(const Setting& s) {
    return {.parts = static_cast<Part>(s.params.integer("clusters"))};
}

ClusterBatches cluster_batches(const Problem& p, std::int64_t workers) {
    return {p.index,
            {.clusters_per_batch = p.params.integer("clusters_per_batch"),
             .shuffle = p.params.boolean("shuffle"),
             .seed = p.train.seed,
             .workers = workers}};
}

ClusterWorker::ClusterWorker(const Problem& problem, Rank rank, std::int64_t workers)
    : problem_(problem),
      source_(cluster_batches(problem_, workers)),
      maker_(problem_, source_,
             {.features = rank.backend.holds_values(),
              .diagonal_enhancement = problem_.params.real("diagonal_enhancement")}),
      training_(problem_, rank, {source_.most_vertices(), most_batch_nonzeros(problem_, source_)}),
      judge_(problem_, rank),
      loader_(prepared_ahead(maker_, rank.backend.trace())) {
    for (Part c = 0; c < problem_.index.parts(); ++c)
        train_vertices_.push_back(std::ranges::count_if(problem_.index.owned(c), [&](GlobalId v) {
            return problem_.dataset.split[usize(value(v))] == Split::train;
        }));
}

std::int64_t ClusterWorker::stated_memory(const Problem& p, std::int64_t element_bytes, bool averages,
                                          std::int64_t workers) {
    MemoryStatement m(element_bytes);
    const ClusterBatches source = cluster_batches(p, workers);
    BatchTraining::state_memory(m, p, {source.most_vertices(), most_batch_nonzeros(p, source)});
    if (averages) m.matrix(1, parameter_elements(p.model));  // the partner's, or all workers'
    return m.bytes();
}

std::int64_t ClusterWorker::samples(std::int64_t item) const {
    std::int64_t count = 0;
    for (const Part c : source_.clusters_of(item)) count += train_vertices_[usize(c)];
    return count;
}

Step ClusterWorker::compute_gradient(std::int64_t item, std::int64_t next) {
    return compute_gradient(item, next, {});
}

Step ClusterWorker::compute_gradient(std::int64_t item, std::int64_t next, const Network::GradientsReady& ready) {
    const std::unique_ptr<Batch> batch = loader_.take(item);
    if (next >= 0) loader_.expect(next);
    return training_.compute_gradient(*batch, item, ready);
}

std::string ClusterWorker::notes() const {
    return fmt::format("batches prepared ahead: {} of {}", loader_.foreseen(), loader_.taken());
}

}  // namespace gnnbench
