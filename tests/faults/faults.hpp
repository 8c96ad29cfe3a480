#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gnnbench/model.hpp>

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
    not_a_number,
    wrong_derivative,
    column_sum_off,
    loss_gradient_off,
    loss_mean,
    class_mean,
    step_off,
    adam_correction,
    decayed_bias,
    wrong_gather,
    softmax_of_block,
    rescale_forgotten,
    mask_left_out,  ///< backward
    row_left_out,   ///< dynamic attention's
    score_slope,
    given_left_out,
    given_after_residual,
    heads_exchanged,
    unwatched,
    late_wait,
    wrong_element,
    wrong_row,
    message_of_epoch_before,
    rank_left_out,
    maximum_of_one,
    reduction_off,
    over_sending,
    wasted_buffer,
    allocating_epoch,
    copy_differs,
    gradients_told_wrong,
    scheme_off,
    self_loop_twice,
    wrong_at_size,
    wrong_in_freed,
    class_zero_right,
    no_false_negatives,
    score_told_wrong,
    score_without_halo,
    logits_without_halo,
    late_halo,
    late_correction,
    late_dropout,
    late_decay,
    late_mean,
    late_standstill,
    late_evaluation,
    inconstant_parts,
};

/// How far a fault is from what is right.
enum class Class {
    scaled,      ///< a value is off by a multiple of the bound that its check sets for it
    exact,       ///< its check compares bits, or sets a bound of 0: any difference is one
    structural,  ///< something is left out, exchanged, repeated or added: as large as that is
};

/// Where a fault shows.
enum class Shows : std::uint8_t {
    in_verification,
    late,         ///< from epoch 8 on, so only in the step after a measured trial
    in_partition  ///< in a partitioner's second answer
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
    Shows shows = Shows::in_verification;
    int ranks = 0;  ///< that its scheme needs; 0: two or three
};

/// Faults of what graph attention alone does.
inline bool is_of_attention(const Entry& entry) {
    const std::string_view check = entry.check;
    return check.starts_with("attention") || check == "head-dots" || entry.fault == Fault::maximum_of_one ||
           entry.fault == Fault::given_after_residual || entry.fault == Fault::self_loop_twice;
}

/// The layers of the trainings that a fault must be found in.
inline std::vector<LayerKind> layers_with(const Entry& entry) {
    if (!is_of_attention(entry)) return {LayerKind::gcn};
    if (entry.fault == Fault::row_left_out) return {LayerKind::gatv2};
    return {LayerKind::gat, LayerKind::gatv2};
}

/// How far a faulty training is, for those of its parts that cannot know.
struct Progress {
    std::int64_t epoch = -1;
    bool evaluates = false;
};
inline Progress& progress() {
    static Progress of_this_process;
    return of_this_process;
}
/// The first epoch in which a late fault shows: beyond those that a verification trains.
inline constexpr std::int64_t late_epoch = 8;

/// Everything that verification must find.
std::span<const Entry> all();

/// A fault; where it is scaled, the multiple of its check's bound that it is off by.
struct Injected {
    Fault fault = Fault::none;
    double times = 8;
};

}  // namespace gnnbench::faults
