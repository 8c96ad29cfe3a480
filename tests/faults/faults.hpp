#pragma once
#include <span>
#include <string_view>

namespace gnnbench::faults {

enum class Fault {
    none,
    last_nonzero_dropped,
    wrong_tail_column,
    stale_tile,
    rows_swapped,
    beta_ignored,
    product_off,
    bias_dropped,
    masked_element,
    dropout_of_other_epoch,
    gemm_off,
    wrong_derivative,
    column_sum_off,
    loss_scale,
    adam_correction,
    decayed_bias,
    wrong_gather,
    unwatched,
    late_wait,
    wrong_element,
    message_of_epoch_before,
    rank_left_out,
    reduction_off,
    over_sending,
    wasted_buffer,
    allocating_epoch,
    copy_differs,
    gradients_told_wrong,
    scheme_off,
    wrong_at_size,
};

struct Entry {
    Fault fault;
    const char* name;
    const char* what;
    const char* scheme;  ///< that it is injected into
    const char* check;   ///< that must find it
};

/// Everything that verification must find.
std::span<const Entry> all();

/// Multiples of its bound that an arithmetic fault is off by.
inline constexpr double times_bound = 8;

}  // namespace gnnbench::faults
