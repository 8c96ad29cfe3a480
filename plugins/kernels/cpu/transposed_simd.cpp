// Transposed sparse × dense: a row of B is added, once for each entry of A's row, to rows of C.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/transposed_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <gnnbench/usize.hpp>

#include "simd-inl.hpp"
#include "transposed.hpp"

HWY_BEFORE_NAMESPACE();
namespace gnnbench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Row `to` of C += factor · row `from` of B.
template <class T>
HWY_INLINE void add_row(const DenseSide<T>& d, T factor, std::int64_t from, std::int64_t to) {
    const T* b = static_cast<const T*>(d.b.data) + from * d.b.ld;
    T* c = static_cast<T*>(d.c.data) + to * d.c.ld;
    const Vec<T> f = hn::Set(Tag<T>(), factor);
    for_vectors<T>(d.c.cols, [&](std::int64_t j, std::int64_t n) HWY_ATTR {
        store_n(hn::MulAdd(f, load_n(b + j, n), load_n(c + j, n)), c + j, n);
    });
}

template <class T>
void add_rows(const FlatCsr<T>& a, const std::int32_t* vertex_at, const std::int32_t* begin,
              const std::int32_t* end, const DenseSide<T>& d) {
    for (std::int64_t r = 0; r < a.rows; ++r) {
        const std::int64_t from = vertex_at ? vertex_at[r] : r;
        const std::int64_t last = end ? a.indptr[r] + end[r] : a.indptr[r + 1];
        for (std::int64_t at = a.indptr[r] + (begin ? begin[r] : 0); at < last; ++at) {
            const std::int32_t index = a.indices[at];
            add_row(d, d.alpha * a.values[at], from, vertex_at ? vertex_at[index] : index);
        }
    }
}

template <class T>
void add_block(const TiledMatrix<T>& a, const BlocksByTile::Place& place, const DenseSide<T>& d) {
    const TileBlock& block = a.blocks[usize(place.block)];
    const std::int32_t* column_at = a.column_at.data() + block.tile * a.tile_cols;
    std::int64_t entry = block.first_entry;
    for (std::int64_t s = 0; s < block.segments; ++s) {
        const Segment segment = a.segments[usize(block.first_segment + s)];
        for (const std::int64_t last = entry + segment.length; entry < last; ++entry) {
            const auto e = usize(entry);
            add_row(d, d.alpha * a.values[e], place.first_row + segment.row, column_at[a.local_col[e]]);
        }
    }
}

template <class T>
constexpr TransposedOperations<T> operations = {&add_rows<T>, &add_block<T>};

const TransposedOperations<float>& transposed_operations_f32() { return operations<float>; }
const TransposedOperations<double>& transposed_operations_f64() { return operations<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gnnbench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnnbench::cpu {
HWY_EXPORT(transposed_operations_f32);
HWY_EXPORT(transposed_operations_f64);

template <>
const TransposedOperations<float>& transposed_operations<float>() {
    static const TransposedOperations<float>& chosen = HWY_DYNAMIC_DISPATCH(transposed_operations_f32)();
    return chosen;
}
template <>
const TransposedOperations<double>& transposed_operations<double>() {
    static const TransposedOperations<double>& chosen = HWY_DYNAMIC_DISPATCH(transposed_operations_f64)();
    return chosen;
}
}  // namespace gnnbench::cpu
#endif
