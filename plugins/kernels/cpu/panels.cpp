// Panels of columns: packing B, writing C.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "panels.hpp"
#include "simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

void pack_rows_(ConstMatrixView b, const std::int32_t* row_at, RowRange positions, const Panel& panel,
                float* packed) {
    constexpr std::int64_t ahead = 16, line = 16;
    const F d;
    const float* from = static_cast<const float*>(b.data) + panel.first;
    for (std::int64_t p = positions.begin; p < positions.end; ++p) {
        const float* next = from + row_at[std::min(p + ahead, positions.end - 1)] * b.ld;
        for (std::int64_t c = 0; c < panel.count; c += line) __builtin_prefetch(next + c);
        const float* row = from + row_at[p] * b.ld;
        float* out = packed + p * panel.width;
        for (std::int64_t c = 0; c < panel.width; c += lanes) {
            const std::int64_t n = std::clamp<std::int64_t>(panel.count - c, 0, lanes);
            hn::StoreU(n > 0 ? load_n(row + c, n) : hn::Zero(d), d, out + c);
        }
    }
}

/// out ← alpha · sum + beta · out.
void finish_row_(const DenseSide& d, const float* sum, float* out, std::int64_t count) {
    const F tag;
    const VF alpha = hn::Set(tag, d.alpha), beta = hn::Set(tag, d.beta);
    for_vectors(count, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        VF v = hn::Mul(alpha, hn::LoadU(tag, sum + c));
        if (d.beta != 0) v = hn::MulAdd(beta, load_n(out + c, n), v);
        store_n(v, out + c, n);
    });
}

void scale_rows_(const DenseSide& d, RowRange rows, const std::int32_t* row_at, const Panel& panel,
                 const float* sums) {
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
        const std::int64_t r = row_at ? row_at[p] : p;
        finish_row_(d, sums + (p - rows.begin) * panel.width,
                    static_cast<float*>(d.c.data) + r * d.c.ld + panel.first, panel.count);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(pack_rows_);
HWY_EXPORT(scale_rows_);

void pack_rows(ConstMatrixView b, const std::int32_t* row_at, RowRange positions, const Panel& panel,
               float* packed) {
    HWY_DYNAMIC_DISPATCH(pack_rows_)(b, row_at, positions, panel, packed);
}

void finish_rows(const DenseSide& d, RowRange rows, const std::int32_t* row_at, const Panel& panel,
                 const float* sums) {
    HWY_DYNAMIC_DISPATCH(scale_rows_)(d, rows, row_at, panel, sums);
    if (d.epilogue.empty) return;
    const auto columns_of = [&](std::int64_t first, std::int64_t count) {
        MatrixView part = d.c.rows_from(first, count);
        part.data = static_cast<float*>(part.data) + panel.first;
        part.cols = panel.count;
        return part;
    };
    if (!row_at) {
        const MatrixView part = columns_of(rows.begin, rows.end - rows.begin);
        epilogue_rows(d.epilogue, part, part, {0, part.rows}, {rows.begin, panel.first});
        return;
    }
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
        const MatrixView row = columns_of(row_at[p], 1);
        epilogue_rows(d.epilogue, row, row, {0, 1}, {row_at[p], panel.first});
    }
}

std::vector<Panel> cut_columns(std::int64_t cols) {
    const std::int64_t steps = (cols + panel_step - 1) / panel_step;
    const std::int64_t panels = (steps * panel_step + widest_panel - 1) / widest_panel;
    std::vector<Panel> out;
    for (std::int64_t i = 0; i < panels; ++i) {
        const std::int64_t first = steps * i / panels * panel_step, end = steps * (i + 1) / panels * panel_step;
        out.push_back({first, std::min(end, cols) - first, end - first});
    }
    return out;
}

std::int64_t widest_of(const std::vector<Panel>& panels) {
    std::int64_t widest = 0;
    for (const Panel& p : panels) widest = std::max(widest, p.width);
    return widest;
}

}  // namespace gnnbench::cpu
#endif
