#pragma once
#include <cstdint>
#include <optional>

#include <gnnbench/busy_time.hpp>
#include <gnnbench/strategy.hpp>
#include <gnnbench/training/distributed_spmm.hpp>
#include <gnnbench/training/network.hpp>
#include <gnnbench/training/stated_memory.hpp>

#include "share.hpp"

namespace gnnbench::minibatch {

/// Products by the batch that is loaded, with needed rows by point-to-point messages: Algorithms 1 and 2 on the batch's
/// subgraph. Time spent waiting for messages does not count as busy.
class ShareSpmm final : public DistributedSpmm {
public:
    /// `busy` must outlive it.
    ShareSpmm(Rank rank, const ShareRoom& room, std::int64_t widest, BusyTime& busy);
    static void state_memory(MemoryStatement& m, const ShareRoom& room, std::int64_t widest);

    /// `ids`: as on the device, of the rows' vertices.
    void load(const BatchShare& share, const std::int64_t* ids);
    void multiply(Direction d, MatrixView h_m, MatrixView z_m, const Epilogue& e) override;
    void accumulate(Direction d, BlockSum& sum) override;

private:
    /// One direction's blocks and buffers on the device.
    struct Side {
        Side(const SideRoom& room, std::int64_t rows, Part parts, std::int64_t widest, Backend& backend);
        /// `ids`: of the rows' vertices, on the device.
        void load(const ShareSide& share, std::int64_t rows, const std::int64_t* ids, Backend& backend);

        HaloExchange exchange;
        Array<std::int64_t> indptr;
        Array<std::int32_t> indices;
        Matrix values;
        Array<std::int64_t> columns;
        CsrView own;
        std::vector<Part> peers;
        std::vector<CsrView> blocks;  ///< by peer
    };

    /// Calls add(block, rows of B, stage) for each block that has entries, its own first, the others in order of arrival.
    template <class Add>
    void by_arrival(Direction d, MatrixView h_m, Add&& add);

    Backend& backend_;
    Communicator& world_;
    BusyTime& busy_;
    Side forward_;
    std::optional<Side> backward_;
};

/// A model that is trained on shares, or evaluated on one: the same on every rank that calls it. Nothing but the
/// current share is on the device.
class ShareTraining {
public:
    /// All of `problem` and `rank` outlive it.
    ShareTraining(const Problem& problem, Rank rank, const ShareRoom& room, const ModelWeights& initial);
    static void state_memory(MemoryStatement& m, const Problem& problem, const ShareRoom& room);

    /// Forward, loss, backward, optimizer; `step` keys dropout. The step is that of the whole batch.
    Step train(const BatchShare& share, std::int64_t step);
    /// Score over all ranks' shares together, without dropout.
    Score evaluate(const BatchShare& share);
    OwnedRows embeddings(const BatchShare& share);

    ReplicatedParameters& parameters() { return network_.parameters(); }

private:
    void load(const BatchShare& share);
    void backward();

    bool multi_label_;
    Slowdown slowdown_;
    Backend& backend_;
    Communicator& world_;
    const ProcessGroup& processes_;
    BusyTime busy_;
    Network network_;
    ShareSpmm spmm_;
    DeviceVertices vertices_;
    Array<double> loss_;
};

}  // namespace gnnbench::minibatch
