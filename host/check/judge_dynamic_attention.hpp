#pragma once
#include <gnnbench/backend.hpp>

#include "check/judge_attention.hpp"

namespace gnnbench {

/// ⟨a, λ(s_i + t_j)⟩ of a head, and its error.
EntryScore dynamic_score(const AttentionHeads& shape, const HostMatrix& vector, const HostMatrix& s,
                         std::int64_t i, std::int64_t s_column, const HostMatrix& t, std::int64_t j,
                         std::int64_t head);

/// A forward pass's operands, and the rows before it, empty in the first stage, and after it.
struct FoundDynamic {
    const HostMatrix &vector, &b, &s;
    const HostRows &before, &after;
    Rounding rounding;
};
void judge_dynamic(Judgement& judgement, const verb::DynamicAttend& v, const Csr& a, const FoundDynamic& found,
                   JudgedColumns columns = JudgedColumns::all);

/// A backward pass's operands, and results before it, empty in the first stage, and after it.
struct FoundDynamicBackward {
    const HostMatrix &vector, &b, &own;
    const HostMatrix &slopes_before, &sums_before, &slopes, &sums;
    Rounding rounding;
};
void judge_dynamic_backward(Judgement& judgement, const verb::DynamicBackward& v, const Csr& a,
                            const FoundDynamicBackward& found);

std::string subject_of(const verb::DynamicAttend& v);
std::string subject_of(const verb::DynamicBackward& v);

/// What one entry of a backward pass contributes to one head.
struct DynamicEntry {
    double alpha = 0, kept = 1;  ///< m is not a part of α
    double dot_size = 0, given = 0, de = 0;
    double error = 0;  ///< of m α relative to it, in u
};
/// Row r of the verb's matrix, the entry in column `other`.
class DynamicEntries {
public:
    DynamicEntries(const verb::DynamicBackward& v, const Csr& a, const HostMatrix& vector, const HostMatrix& b,
                   const HostMatrix& own)
        : v_(v), a_(a), vector_(vector), b_(b), own_(own), w_(v.slopes.cols) {}
    DynamicEntry entry(std::int64_t r, std::size_t k, std::int64_t head) const;
    /// G's and λ' of the entry in a column.
    double g(std::int64_t r, std::int64_t other, std::int64_t c) const;
    double derivative(std::int64_t r, std::int64_t other, std::int64_t c) const;

private:
    bool of_rows() const { return v_.side == AttentionSide::rows; }
    const verb::DynamicBackward& v_;
    const Csr& a_;
    const HostMatrix &vector_, &b_, &own_;
    std::int64_t w_;
};

}  // namespace gnnbench
