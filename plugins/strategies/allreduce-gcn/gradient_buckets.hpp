#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/communicator.hpp>
#include <gnnbench/model.hpp>
#include <gnnbench/training/network.hpp>

namespace gnnbench::allreduce {

/// Gradients of consecutive layers, which lie side by side in ReplicatedParameters::all_gradients() [1 × elements]:
/// columns {first … first + columns − 1}. They are averaged by one all-reduce.
struct Bucket {
    std::int64_t first = 0, columns = 0;
    friend bool operator==(const Bucket&, const Bucket&) = default;
};

/// The buckets of a model in the order in which a backward pass completes them, so that the last one has layer 0. Layers are
/// added, the last one first, until a bucket has at least `bucket_mib` MiB (2^20 bytes); layer 0's may have less. With 0
/// all of them are in one.
std::vector<Bucket> gradient_buckets(const ModelSpec& model, std::int64_t element_bytes, double bucket_mib);

/// The averaging of one step's gradients over all workers, bucket by bucket: all but the last are in flight while the
/// backward pass goes on, as in PyTorch's DistributedDataParallel. All workers make the same calls in the same order.
class BucketAveraging {
public:
    /// `gradients`: all of a worker, in which the buckets are; all outlive it. `weight`: this worker's share of the average.
    BucketAveraging(const std::vector<Bucket>& buckets, MatrixView gradients, double weight, Backend& backend,
                    Communicator& workers)
        : buckets_(buckets),
          gradients_(gradients),
          weight_(weight),
          backend_(backend),
          workers_(workers),
          incomplete_(gradients.cols) {}

    /// Starts the all-reduce of a bucket as soon as its layers' gradients are complete, but not of the last one: where
    /// that is complete, nothing is left to compute meanwhile. Valid as long as this object.
    Network::GradientsReady starter();
    /// Averages what has not been started, in order, and waits for everything.
    void finish();

private:
    MatrixView weighted(const Bucket& bucket);

    const std::vector<Bucket>& buckets_;
    MatrixView gradients_;
    double weight_;
    Backend& backend_;
    Communicator& workers_;
    std::int64_t
        incomplete_;  ///< gradients of layers that the backward pass has not reached: columns {0 … −1 + this}
    std::vector<Event> started_;  ///< of buckets, in order
};

}  // namespace gnnbench::allreduce
