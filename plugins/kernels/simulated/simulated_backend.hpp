#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>

#include <gnnbench/backend.hpp>
#include <gnnbench/simulation/simulation.hpp>

#include "costs.hpp"

namespace gnnbench::simulated {

/// A device of which each verb charges its time to the rank's stream. It computes nothing, or what another back end, of
/// this machine, computes when the verb is over in virtual time.
class SimulatedBackend final : public Backend {
public:
    /// `rank` outlives it. `ranks_of_node`: of the trial. `arithmetic`: null for none; its memory is this process's.
    SimulatedBackend(simulation::SimulatedRank& rank, DType dtype, SpmmModel spmm, int ranks_of_node,
                     std::shared_ptr<Backend> arithmetic);
    ~SimulatedBackend() override;

private:
    void* do_allocate(std::size_t bytes) override;
    void do_free(void* data, std::size_t bytes) noexcept override;
    std::int64_t do_free_bytes() const override;
    void do_copy_in(const void* host, void* device, std::size_t bytes) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    Event do_record(StreamRole stream) override { return rank_.record(stream); }
    void do_wait(StreamRole stream, const Event& event) override { rank_.wait(stream, event); }
    void do_synchronize(StreamRole stream) override { rank_.synchronize(stream); }
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    std::unique_ptr<PreparedMatrix> do_prepare_size(const SparseSize& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_prepare_as_sized(const Csr& a, TransposedProducts t) override;
    GNNBENCH_PERFORMS_EVERY_VERB
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;
    std::string do_notes() const override;
    bool do_holds_values() const override { return arithmetic_ != nullptr; }

    /// Of this size, with so many of its rows stored. `entries`: null where there are none.
    std::unique_ptr<PreparedMatrix> prepare_rows(const SparseSize& a, std::int64_t stored_rows, const Csr* entries,
                                                 TransposedProducts t);
    void* allocate_values(std::size_t bytes);
    /// What a kernel does to the contents of memory when it is over.
    using Action = std::function<void()>;
    template <class Verb>
    Action values_of(const Verb& v) const;
    /// Issues a kernel on the compute stream.
    void issue(const simulation::Work& work, Action action);
    InOrder moved(std::span<const simulation::Recency::Operand> operands);
    InOrder moved(std::initializer_list<simulation::Recency::Operand> operands) {
        return moved(std::span(operands.begin(), operands.size()));
    }
    /// Issues a kernel that reads and writes each of a verb's matrices once; what it does both with, twice.
    void stream(std::span<const verb::Operand> operands, Action action);
    template <class Product>
    void multiply(SpmmShape shape, const simulation::Recency::Operand& a, const Product& v);
    /// What a product reads of a matrix in device memory.
    simulation::Recency::Operand entries_of(const CsrView& a) const;
    void attend(const PreparedMatrix& matrix, ConstMatrixView b, std::span<const verb::Operand> others,
                Stage stage, bool every_row, double entry_s, Action action);
    double counted_rows(ConstMatrixView logits, const LossInput& in) const;
    InOrder logits_and_gradient(ConstMatrixView logits, MatrixView grad);
    void loss(ConstMatrixView logits, const LossInput& in, MatrixView grad, Action action);
    void sharded_loss(ConstMatrixView logits, const InOrder& moved, Action action);
    void finish(const Epilogue& e, MatrixView c);

    simulation::SimulatedRank& rank_;
    Costs costs_;
    SpmmModel spmm_;
    int ranks_of_node_;
    std::shared_ptr<Backend> arithmetic_;            ///< or null
    std::map<void*, std::shared_ptr<void>> values_;  ///< what memory is allocated, by address
    /// Where the next prepared matrix lies: below all addresses that memory can have.
    std::uintptr_t matrices_ = 4096;
};

}  // namespace gnnbench::simulated
