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
    sigmoid_far_out,
    wrong_derivative,
    column_sum_off,
    loss_gradient_off,
    loss_mean,
    class_mean,
    step_off,
    adam_correction,
    decayed_bias,
    wrong_gather,
    unwatched,
    late_wait,
    wrong_element,
    wrong_row,
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

/// How far a fault is from what is right.
enum class Class {
    scaled,      ///< a value is off by a multiple of the bound that its check sets for it
    exact,       ///< its check compares bits, or sets a bound of 0: any difference is one
    structural,  ///< something is left out, exchanged, repeated or added: as large as that is
};

struct Entry {
    Fault fault;
    Class of;
    const char* name;
    const char* what;
    const char* scheme;  ///< that it is injected into
    const char* check;   ///< that must find it
    /// Of a scaled fault: a check with a smaller bound, which finds it even where the named one must not.
    const char* sharper = "";
};

/// Everything that verification must find.
std::span<const Entry> all();

/// A fault; where it is scaled, the multiple of its check's bound that it is off by.
struct Injected {
    Fault fault = Fault::none;
    double times = 8;
};

}  // namespace gnnbench::faults
