// Checks of attention, and of what is computed head by head.
#include <algorithm>

#include "check/checked_backend.hpp"
#include "check/judge_attention.hpp"
#include "check/judge_dynamic_attention.hpp"
#include "check/kept_matrix.hpp"

namespace gnnbench {

void CheckedBackend::judge(const verb::Attend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), l = read_view(inner(), v.l);
    const HostRows before = v.stage.first ? HostRows() : HostRows(inner(), v.rows);
    inner().run(verb::Attend{*kept.prepared, v.shape, v.b, v.l, v.rows, v.stage});
    const HostRows after(inner(), v.rows);
    Judgement j(*ledger_, "attention", subject_of(v));
    judge_attention(j, v, kept.csr, {b, l, before, after, rounding_of(dtype())});
}

void CheckedBackend::judge(const verb::AttendBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix b = read_view(inner(), v.b), own = read_view(inner(), v.own),
                     before = v.stage.first ? HostMatrix() : read_view(inner(), v.c);
    inner().run(verb::AttendBackward{*kept.prepared, v.shape, v.b, v.own, v.c, v.stage});
    const HostMatrix after = read_view(inner(), v.c);
    Judgement j(*ledger_, "attention-backward", subject_of(v));
    judge_attention_backward(j, v, kept.csr, {b, own, before, after, rounding_of(dtype())});
}

void CheckedBackend::judge(const verb::DynamicAttend& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     s = read_view(inner(), v.s);
    const HostRows before = v.stage.first ? HostRows() : HostRows(inner(), v.rows);
    inner().run(verb::DynamicAttend{*kept.prepared, v.shape, v.vector, v.b, v.s, v.rows, v.stage});
    const HostRows after(inner(), v.rows);
    Judgement j(*ledger_, "attention", subject_of(v));
    judge_dynamic(j, v, kept.csr, {vector, b, s, before, after, rounding_of(dtype())});
}

void CheckedBackend::judge(const verb::DynamicBackward& v) {
    const auto& kept = static_cast<const KeptMatrix&>(v.a);
    const HostMatrix vector = read_view(inner(), v.vector), b = read_view(inner(), v.b),
                     own = read_view(inner(), v.own),
                     slopes_before = v.stage.first ? HostMatrix() : read_view(inner(), v.slopes),
                     sums_before = v.stage.first ? HostMatrix() : read_view(inner(), v.sums);
    inner().run(
        verb::DynamicBackward{*kept.prepared, v.side, v.shape, v.vector, v.b, v.own, v.slopes, v.sums, v.stage});
    const HostMatrix slopes = read_view(inner(), v.slopes), sums = read_view(inner(), v.sums);
    Judgement j(*ledger_, "attention-backward", subject_of(v));
    judge_dynamic_backward(j, v, kept.csr,
                           {vector, b, own, slopes_before, sums_before, slopes, sums, rounding_of(dtype())});
}

void CheckedBackend::judge(const verb::HeadDots& v) {
    const HostMatrix x = read_view(inner(), v.x), y = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "head-dots", shape_of(v.out));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t h = 0; h < found.cols; ++h) {
            BoundedSum dot;
            for (std::int64_t c = h; c < x.cols; c += found.cols) dot.add(x(r, c) * y(y.rows == 1 ? 0 : r, c), 0);
            j.near(r, h, found(r, h), dot.value,
                   dot.bound(rounding, static_cast<double>(x.cols) / static_cast<double>(found.cols)));
        }
}

void CheckedBackend::judge(const verb::HeadSums& v) {
    const HostMatrix s = read_view(inner(), v.s), x = read_view(inner(), v.x);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "head-sums", shape_of(v.x));
    for (std::int64_t c = 0; c < x.cols; ++c) {
        BoundedSum sum;
        for (std::int64_t r = 0; r < x.rows; ++r) sum.add(s(r, c % s.cols) * x(r, c), 0);
        j.near(0, c, found(0, c), sum.value, sum.bound(rounding, static_cast<double>(x.rows)));
    }
}

void CheckedBackend::judge(const verb::AddHeads& v) {
    const HostMatrix s = read_view(inner(), v.s), a = read_view(inner(), v.a), before = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.y);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "add-heads", shape_of(v.y));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t c = 0; c < found.cols; ++c) {
            BoundedSum sum;
            sum.add(before(r, c), 0);
            sum.add(s(r, c % s.cols) * a(0, c), 0);
            j.near(r, c, found(r, c), sum.value, sum.bound(rounding, 2));
        }
}

void CheckedBackend::judge(const verb::RescaleHeads& v) {
    const HostMatrix from = read_view(inner(), v.from), to = read_view(inner(), v.to),
                     before = read_view(inner(), v.y);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.y);
    const Rounding rounding = rounding_of(dtype());
    Judgement j(*ledger_, "rescale-heads", shape_of(v.y));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t c = 0; c < found.cols; ++c) {
            const std::int64_t h = c % from.cols;
            const double argument = from(r, h) - to(r, h), scale = std::isinf(from(r, h)) ? 0 : std::exp(argument);
            const double allowed = scale == 0 ? 0 : rounding.unit * std::abs(argument);
            j.near(r, c, found(r, c), scale * before(r, c),
                   (rounding.gamma(3 + function_error) + allowed) * std::abs(scale * before(r, c)) +
                       rounding.smallest);
        }
}

void CheckedBackend::judge(const verb::MeanOfHeads& v) {
    const HostMatrix x = read_view(inner(), v.x);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t heads = x.cols / std::max<std::int64_t>(found.cols, 1);
    Judgement j(*ledger_, "mean-of-heads", shape_of(v.x));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t k = 0; k < found.cols; ++k) {
            BoundedSum sum;
            for (std::int64_t h = 0; h < heads; ++h) sum.add(x(r, k * heads + h) / static_cast<double>(heads), 2);
            j.near(r, k, found(r, k), sum.value, sum.bound(rounding, static_cast<double>(heads)));
        }
}

void CheckedBackend::judge(const verb::SpreadToHeads& v) {
    const HostMatrix g = read_view(inner(), v.g);
    inner().run(v);
    const HostMatrix found = read_view(inner(), v.out);
    const Rounding rounding = rounding_of(dtype());
    const std::int64_t heads = found.cols / std::max<std::int64_t>(g.cols, 1);
    Judgement j(*ledger_, "spread-to-heads", shape_of(v.out));
    for (std::int64_t r = 0; r < found.rows; ++r)
        for (std::int64_t c = 0; c < found.cols; ++c) {
            const double share = g(r, c / heads) / static_cast<double>(heads);
            j.near(r, c, found(r, c), share, rounding.gamma(3) * std::abs(share) + rounding.smallest);
        }
}

}  // namespace gnnbench
