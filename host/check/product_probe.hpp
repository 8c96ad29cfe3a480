#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <gnnbench/random.hpp>

#include "check/forwarding_backend.hpp"
#include "check/ledger.hpp"

namespace gnnbench {

/// A back end that records which prepared matrix was multiplied at which width, so that each can be tested at the
/// size and in the format that it has in a timed trial, where recomputing every product would take too long.
///
/// The test is Freivalds' (1979), in floating point: for random B and random signs S ∈ {±1}^{f×8}, C·S is compared
/// with Â(B·S), both in float64, the latter by a plain loop over the CSR that the matrix was prepared from. Row i
/// passes within γ_{k_i+f}(|Â||B|1)_i, k_i its nonzeros. What is wrong in a row cancels in one column of C·S with
/// probability at most 1/2, so in all eight with at most 2⁻⁸.
///
/// Attention's sums are recomputed row by row, those of a forward pass in one column of each head.
class ProductProbe final : public ForwardingBackend {
public:
    explicit ProductProbe(std::unique_ptr<Backend> inner) : ForwardingBackend(std::move(inner)) {}

    /// Tests all matrices multiplied so far, those too that have been freed since: the probe shares what it multiplied.
    /// Nothing may be in flight.
    void test(Ledger& ledger, std::uint64_t seed);

private:
    struct Kept;
    struct Handle;
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    using ForwardingBackend::perform;
    void perform(const verb::Spmm& v) override;
    void perform(const verb::SpmmTransposed& v) override;
    void perform(const verb::Attend& v) override;
    void perform(const verb::AttendBackward& v) override;
    void perform(const verb::DynamicAttend& v) override;
    void perform(const verb::DynamicBackward& v) override;

    enum class Product : std::uint8_t {
        spmm,
        by_transpose,
        attention,
        attention_backward,
        dynamic,
        dynamic_of_rows,
        dynamic_of_neighbours
    };
    /// A product that was made.
    struct Use {
        std::shared_ptr<const Kept> matrix;
        Product product;
        std::int64_t width;  ///< of what the matrix multiplied, or was attended over
        bool adds;           ///< to what earlier blocks summed up, or C
        AttentionHeads shape = {};
        bool completes = true, sloped = true;  ///< attention's last stage; P was wanted
        bool operator==(const Use&) const = default;
    };
    void note(Use use);
    void test(Ledger& ledger, const Use& use, std::uint64_t seed);
    void test_spmm(Ledger& ledger, const Use& use, std::uint64_t seed);
    void test_attention(Ledger& ledger, const Use& use, std::uint64_t seed);
    void test_attention_backward(Ledger& ledger, const Use& use, std::uint64_t seed);
    void test_dynamic(Ledger& ledger, const Use& use, std::uint64_t seed);
    void test_dynamic_backward(Ledger& ledger, const Use& use, std::uint64_t seed);
    /// Random numbers in [−1, 1).
    Matrix random_matrix(std::int64_t rows, std::int64_t cols, RandomStream& draw);

    std::vector<Use> used_;
};

}  // namespace gnnbench
