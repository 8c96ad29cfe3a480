#include "gradient_buckets.hpp"

#include <gnnbench/training/layer.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::allreduce {

std::vector<Bucket> gradient_buckets(const ModelSpec& model, std::int64_t element_bytes, double bucket_mib) {
    const std::vector<LayerSpec> layers = layers_of(model, false);
    std::int64_t end = 0;
    for (const LayerSpec& layer : layers) end += layer.elements();

    std::vector<Bucket> buckets;
    Bucket open{.first = end, .columns = 0};
    for (std::size_t l = layers.size(); l-- > 0;) {
        open.first -= layers[l].elements();
        open.columns += layers[l].elements();
        const double mib = static_cast<double>(open.columns * element_bytes) / (1 << 20);
        if (l == 0 || (bucket_mib > 0 && mib >= bucket_mib)) {
            buckets.push_back(open);
            open.columns = 0;
        }
    }
    return buckets;
}

Network::GradientsReady BucketAveraging::starter() {
    return [this](MatrixView layer, bool) {
        incomplete_ -= layer.cols;
        const std::size_t next = started_.size();
        if (next + 1 < buckets_.size() && buckets_[next].first == incomplete_)
            started_.push_back(workers_.all_reduce(weighted(buckets_[next])));
    };
}

void BucketAveraging::finish() {
    for (std::size_t b = started_.size(); b + 1 < buckets_.size(); ++b)
        started_.push_back(workers_.all_reduce(weighted(buckets_[b])));
    workers_.all_reduce_now(weighted(buckets_.back()));
    for (const Event& e : started_) backend_.wait(StreamRole::compute, e);
    started_.clear();
}

/// bucket ← weight · bucket; the sum over workers is then the average.
MatrixView BucketAveraging::weighted(const Bucket& bucket) {
    const MatrixView of = gradients_.cols_from(bucket.first, bucket.columns).reshaped(1, bucket.columns);
    if (weight_ != 1) backend_.axpby(0, of, weight_, of);
    return of;
}

}  // namespace gnnbench::allreduce
