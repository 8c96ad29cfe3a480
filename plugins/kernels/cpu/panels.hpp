#pragma once
#include <cstdint>
#include <vector>

#include "spmm.hpp"

namespace gnnbench::cpu {

/// Columns [first, first + count) of B and C, packed as rows of `width` elements: count rounded up to whole steps,
/// the rest zeros.
struct Panel {
    std::int64_t first, count, width;
};
inline constexpr std::int64_t panel_step = 16, widest_panel = 64;
/// Attention's panels are wider, since each makes the weights of all entries anew.
inline constexpr std::int64_t widest_attended = 128;

/// `cols` columns cut into panels as equal as steps allow, none wider than `widest`, a multiple of panel_step.
std::vector<Panel> cut_columns(std::int64_t cols, std::int64_t widest = widest_panel);
std::int64_t widest_of(const std::vector<Panel>& panels);

/// Widths of the products by Â in a model of such widths, features first: a layer multiplies by Â before or after its
/// weights, whichever makes H narrower.
std::vector<std::int64_t> product_widths(const std::vector<std::int64_t>& model);

/// Panels of one width among those that products at the widths to come are cut into.
struct TrialPanels {
    std::int64_t width, count;
    auto operator<=>(const TrialPanels&) const = default;
};
/// The one or two kinds of panels that take the most columns, the widest first.
std::vector<TrialPanels> trial_panels(const std::vector<std::int64_t>& widths);

/// What is done with panels, for one instruction set.
template <class T>
struct PanelOperations {
    /// packed[p] ← the panel's columns of row row_at[p] of b.
    void (*pack)(ConstMatrixView b, const std::int32_t* row_at, RowRange positions, const Panel& panel, T* packed);
    /// C's columns of the panel ← alpha · sums + beta · C; part of finish_rows.
    void (*scale)(const DenseSide<T>& d, RowRange rows, const std::int32_t* row_at, const Panel& panel,
                  const T* sums);
};
/// For the best instruction set.
template <class T>
const PanelOperations<T>& panel_operations();
template <>
const PanelOperations<float>& panel_operations<float>();
template <>
const PanelOperations<double>& panel_operations<double>();

/// packed [positions × panel.width] ← the panel's columns of b, whose row row_at[p] has position p.
template <class T>
void pack_rows(ConstMatrixView b, const std::int32_t* row_at, std::int64_t positions, const Panel& panel,
               int threads, T* packed);

/// C's columns of the panel ← epilogue(alpha · sums + beta · C), where row p of the range, at sums[p − begin], is
/// row row_at[p] of C, or row p if row_at is null.
template <class T>
void finish_rows(const DenseSide<T>& d, RowRange rows, const std::int32_t* row_at, const Panel& panel,
                 const T* sums);

}  // namespace gnnbench::cpu
