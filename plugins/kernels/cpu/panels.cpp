// Panels of columns: packing B, writing C.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ahead.hpp"
#include "panels.hpp"
#include "simd-inl.hpp"
#include "threads.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void pack(ConstMatrixView b, const std::int32_t* row_at, RowRange positions, const Panel& panel, T* packed) {
    const Tag<T> d;
    const Ahead ahead = ahead_of_random_rows(panel.count * static_cast<std::int64_t>(sizeof(T)));
    const T* from = static_cast<const T*>(b.data) + panel.first;
    for (std::int64_t p = positions.begin; p < positions.end; ++p) {
        const auto row_after = [&](std::int64_t by) {
            return from + row_at[std::min(p + by, positions.end - 1)] * b.ld;
        };
        prefetch_row<2>(row_after(ahead.second), panel.count);
        prefetch_row<1>(row_after(ahead.first), panel.count);
        const T* row = from + row_at[p] * b.ld;
        T* out = packed + p * panel.width;
        for (std::int64_t c = 0; c < panel.width; c += lanes<T>) {
            const std::int64_t n = std::clamp<std::int64_t>(panel.count - c, 0, lanes<T>);
            hn::StoreU(n > 0 ? load_n(row + c, n) : hn::Zero(d), d, out + c);
        }
    }
}

/// out ← alpha · sum + beta · out.
template <class T>
void scale_row(const DenseSide<T>& d, const T* sum, T* out, std::int64_t count) {
    const Tag<T> tag;
    const Vec<T> alpha = hn::Set(tag, d.alpha), beta = hn::Set(tag, d.beta);
    for_vectors<T>(count, [&](std::int64_t c, std::int64_t n) HWY_ATTR {
        Vec<T> v = hn::Mul(alpha, hn::LoadU(tag, sum + c));
        if (d.beta != 0) v = hn::MulAdd(beta, load_n(out + c, n), v);
        store_n(v, out + c, n);
    });
}

template <class T>
void scale(const DenseSide<T>& d, RowRange rows, const std::int32_t* row_at, const Panel& panel, const T* sums) {
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
        const std::int64_t r = row_at ? row_at[p] : p;
        scale_row(d, sums + (p - rows.begin) * panel.width, static_cast<T*>(d.c.data) + r * d.c.ld + panel.first,
                  panel.count);
    }
}

/// Both for one instruction set.
template <class T>
constexpr PanelOperations<T> operations = {&pack<T>, &scale<T>};

const PanelOperations<float>& panel_operations_f32() { return operations<float>; }
const PanelOperations<double>& panel_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(panel_operations_f32);
HWY_EXPORT(panel_operations_f64);

template <>
const PanelOperations<float>& panel_operations<float>() {
    static const PanelOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(panel_operations_f32)();
    return chosen;
}
template <>
const PanelOperations<double>& panel_operations<double>() {
    static const PanelOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(panel_operations_f64)();
    return chosen;
}

template <class T>
void pack_rows(ConstMatrixView b, const std::int32_t* row_at, std::int64_t positions, const Panel& panel,
               int threads, T* packed) {
    constexpr std::int64_t run = 1024;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t p = 0; p < positions; p += run)
        panel_operations<T>().pack(b, row_at, {p, std::min(positions, p + run)}, panel, packed);
}
template void pack_rows(ConstMatrixView, const std::int32_t*, std::int64_t, const Panel&, int, float*);
template void pack_rows(ConstMatrixView, const std::int32_t*, std::int64_t, const Panel&, int, double*);

template <class T>
void finish_rows(const DenseSide<T>& d, RowRange rows, const std::int32_t* row_at, const Panel& panel,
                 const T* sums) {
    panel_operations<T>().scale(d, rows, row_at, panel, sums);
    if (d.epilogue.empty) return;
    const auto columns_of = [&](std::int64_t first, std::int64_t count) {
        return d.c.rows_from(first, count).cols_from(panel.first, panel.count);
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
template void finish_rows(const DenseSide<float>&, RowRange, const std::int32_t*, const Panel&, const float*);
template void finish_rows(const DenseSide<double>&, RowRange, const std::int32_t*, const Panel&, const double*);

}  // namespace gnnbench::cpu
#endif
