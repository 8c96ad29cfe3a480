#pragma once
#include <cstdint>
#include <functional>

#include <gnnbench/backend.hpp>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "check/ledger.hpp"

namespace gnnbench {

/// A sum with what its roundings may make of it, beside those of adding up.
struct BoundedSum {
    double value = 0;
    double size = 0;   ///< Σ of the terms' sizes
    double error = 0;  ///< Σ of the terms' own errors, in u
    void add(double term, double error_of_term) {
        value += term;
        size += std::abs(term);
        error += std::abs(term) * error_of_term;
    }
    double bound(const Rounding& rounding, double terms) const {
        return rounding.gamma(terms + 4) * size + rounding.unit * error + (terms + 4) * rounding.smallest;
    }
};

/// What a forward pass made of its rows (AttentionRows).
struct HostRows {
    HostMatrix z, slopes, maxima, sums, slope_sums;
    HostRows() = default;
    HostRows(Backend& k, const AttentionRows& rows)
        : z(read_view(k, rows.z)),
          slopes(read_view(k, rows.slopes)),
          maxima(read_view(k, rows.maxima)),
          sums(read_view(k, rows.sums)),
          slope_sums(read_view(k, rows.slope_sums)) {}
};

/// Which columns of a forward pass are judged. Each costs another walk over the entries, exponentials included.
enum class JudgedColumns : std::uint8_t { all, one_of_each_head };

/// What a row attends to an entry with: a head's score, its λ' where it has one, and its error in u.
struct EntryScore {
    double value = 0, derivative = 1, error = 0;
};
using ScoreOf = std::function<EntryScore(std::int64_t row, std::int64_t column, std::int64_t head)>;

/// Rows of `a` that attended, of matrices whose heads are `width` columns together.
struct Attended {
    AttentionHeads shape;
    const Csr& a;
    std::int64_t width;
    Stage stage;
    bool sloped;
};
/// `b`: the rows attended to, of which the first columns are summed up.
void judge_attended(Judgement& judgement, const Attended& v, const ScoreOf& score, const HostMatrix& b,
                    const HostRows& before, const HostRows& after, const Rounding& rounding,
                    JudgedColumns columns);

/// A forward pass's operands, and the rows before it, empty in the first stage, and after it.
struct FoundAttention {
    const HostMatrix &b, &l;
    const HostRows &before, &after;
    Rounding rounding;  ///< of the back end's type
};
/// Against the sums over the rows of `a`, from which the verb's matrix was prepared.
void judge_attention(Judgement& judgement, const verb::Attend& v, const Csr& a, const FoundAttention& found,
                     JudgedColumns columns = JudgedColumns::all);

/// A backward pass's operands, and C before it, empty in the first stage, and after it.
struct FoundAttentionBackward {
    const HostMatrix &b, &own;
    const HostMatrix &before, &after;
    Rounding rounding;
};
void judge_attention_backward(Judgement& judgement, const verb::AttendBackward& v, const Csr& a,
                              const FoundAttentionBackward& found);

/// "8 heads of 4 over [60x60]"
std::string subject_of(const verb::Attend& v);
std::string subject_of(const verb::AttendBackward& v);

}  // namespace gnnbench
