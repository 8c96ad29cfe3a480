#pragma once
#include <cstdint>

#include <gnnbench/volume.hpp>

namespace gnnbench {

/// Adds up one rank's stated volume operation by operation, each by the rule that Communicator counts it with.
/// Sizes are in elements of dense values unless said otherwise; one rank alone and empty operations state nothing.
class VolumeStatement {
public:
    explicit VolumeStatement(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

    void broadcast(std::int64_t elements, int ranks, bool is_root) {
        add(CommOp::broadcast, Content::payload, counting::broadcast(elements * element_bytes_, ranks, is_root));
    }
    void broadcast_metadata(std::int64_t bytes, int ranks, bool is_root) {
        add(CommOp::broadcast, Content::metadata, counting::broadcast(bytes, ranks, is_root));
    }
    void reduce(std::int64_t elements, int ranks, bool is_root) {
        add(CommOp::reduce, Content::payload, counting::reduce(elements * element_bytes_, ranks, is_root));
    }
    void all_reduce(std::int64_t elements, int ranks, int rank) {
        all_reduce(Content::payload, elements, element_bytes_, ranks, rank);
    }
    /// An all-reduce of `count` doubles that counts as metadata: a loss, an accuracy.
    void all_reduce_scalars(std::int64_t count, int ranks, int rank) {
        all_reduce(Content::metadata, count, sizeof(double), ranks, rank);
    }
    void all_gather(std::int64_t elements, std::int64_t mine, int ranks) {
        add(CommOp::all_gather, Content::payload,
            counting::all_gather(elements * element_bytes_, mine * element_bytes_, ranks));
    }
    void reduce_scatter(std::int64_t elements, std::int64_t mine, int ranks) {
        add(CommOp::reduce_scatter, Content::payload,
            counting::reduce_scatter(elements * element_bytes_, mine * element_bytes_, ranks));
    }
    /// One message to another rank, one from another.
    void exchange(std::int64_t sent, std::int64_t received) {
        add(CommOp::point_to_point, Content::payload,
            {sent * element_bytes_, received * element_bytes_, sent > 0 ? 1 : 0});
    }
    void add(const Volume& v) { total_ += v; }

    std::int64_t element_bytes() const { return element_bytes_; }
    const Volume& total() const { return total_; }

private:
    void all_reduce(Content content, std::int64_t elements, std::int64_t each_bytes, int ranks, int rank) {
        add(CommOp::all_reduce, content,
            counting::all_reduce(elements * each_bytes,
                                 counting::even_block_bytes(elements, each_bytes, ranks, rank), ranks));
    }
    void add(CommOp op, Content content, const Traffic& t) {
        if (t != Traffic{}) total_[{op, content}] += t;
    }
    std::int64_t element_bytes_;
    Volume total_;
};

}  // namespace gnnbench
