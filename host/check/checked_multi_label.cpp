// Checks of the loss and the counts of a label matrix.
#include <algorithm>
#include <array>
#include <cmath>

#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/checked_backend.hpp"
#include "check/host_copy.hpp"

namespace gnnbench {
namespace {

struct HostLabelMatrix {
    std::vector<std::uint8_t> labels;  ///< [rows × cols]
    std::vector<Split> split;
    std::int64_t cols;
    HostLabelMatrix(Backend& k, const LossInput& in, ConstMatrixView logits)
        : labels(read_array(k, in.label_matrix, logits.rows * logits.cols)),
          split(read_array(k, in.split, logits.rows)),
          cols(logits.cols) {}
    bool has(std::int64_t row, std::int64_t c) const { return labels[usize(row * cols + c)] != 0; }
};

}  // namespace

/// Error of an element's loss, with t = ∓x and e = exp(−|t|), in u: function_error for e, whose relative error log1p
/// does not enlarge, function_error for log1p, and 4; every term is positive, so the sum's relative error is that of
/// its terms and additions. Error of its derivative p − y, p = σ(x): (function_error + 4) p + 4 y.
void CheckedBackend::judge(const verb::BinaryCrossEntropy& v) {
    const HostMatrix before = read_view(inner(), v.logits);
    const HostLabelMatrix host(inner(), v.in, v.logits);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.grad);
    const Rounding rounding = rounding_of(dtype());
    double loss = 0;
    Judgement j(*ledger_, "loss", shape_of(v.logits));
    for (std::int64_t r = 0; r < before.rows; ++r)
        for (std::int64_t c = 0; c < before.cols; ++c) {
            if (host.split[usize(r)] != v.in.counted) {
                j.same(r, c, found(r, c), 0);
                continue;
            }
            const double x = before(r, c), e = std::exp(-std::abs(x)), y = host.has(r, c) ? 1 : 0;
            const double p = (x > 0 ? 1 : e) / (1 + e);
            const double rest = (x > 0 ? e : 1) / (1 + e);  // 1 − p
            j.near(r, c, found(r, c), (y > 0 ? -rest : p) * v.in.scale,
                   (rounding.gamma(function_error + 4) * p + rounding.gamma(4) * y) * v.in.scale +
                       4 * rounding.smallest);
            loss += (std::max(y > 0 ? -x : x, 0.0) + std::log1p(e)) * v.in.scale;
        }
    // Rows are summed in float64.
    const auto additions = static_cast<double>(dtype() == DType::f32 ? before.cols : before.rows * before.cols);
    const double bound = rounding.gamma(2 * function_error + 4 + additions) * loss;
    j.near(-1, -1, read_array(inner(), v.loss_out, 1)[0], loss, bound);
}

void CheckedBackend::judge(const verb::CountPositives& v) {
    const HostMatrix values = read_view(inner(), v.logits);
    const HostLabelMatrix host(inner(), v.in, v.logits);
    inner().run(v);
    std::array<std::int64_t, 9> expected{};
    for (std::int64_t r = 0; r < values.rows; ++r) {
        const Split split = host.split[usize(r)];
        if (split == Split::none) continue;
        for (std::int64_t c = 0; c < values.cols; ++c) {
            const bool has = host.has(r, c), claimed = values(r, c) > 0;
            if (has || claimed) ++expected[3 * (usize(split) - 1) + (!claimed ? 2 : has ? 0 : 1)];
        }
    }
    const auto found = read_array(inner(), v.counts, 9);
    Judgement j(*ledger_, "micro-F1", shape_of(v.logits));
    for (std::size_t i = 0; i < 9; ++i)
        j.same(0, static_cast<std::int64_t>(i), static_cast<double>(found[i]), static_cast<double>(expected[i]));
}

}  // namespace gnnbench
