#include "faults/faults.hpp"

namespace gnnbench::faults {
namespace {

using enum Class;

constexpr Entry entries[] = {
    // Backend, in float32 alone.
    {Fault::last_nonzero_dropped, structural, "last nonzero dropped",
     "SpMM leaves out the last nonzero of one row", "cagnet-1d", "spmm"},
    {Fault::wrong_tail_column, structural, "wrong tail column",
     "SpMM's last column, beyond whole vectors, holds the one before it", "cagnet-1d", "spmm"},
    {Fault::stale_tile, structural, "stale tile", "four rows of SpMM's result are those of the call before",
     "cagnet-1d", "spmm"},
    {Fault::rows_swapped, structural, "rows swapped", "two rows of SpMM's result have changed places", "cagnet-1d",
     "spmm"},
    {Fault::beta_ignored, structural, "beta ignored", "SpMM overwrites C where it must add to it", "cagnet-1d",
     "spmm"},
    {Fault::product_off, scaled, "SpMM off", "one element of SpMM is off", "cagnet-1d", "spmm"},
    {Fault::bias_dropped, structural, "bias dropped", "the last column of a product gets no bias", "cagnet-1d",
     "gemm"},
    {Fault::masked_element, exact, "ReLU's zero off", "an element that ReLU makes 0 is 1e-30", "cagnet-1d",
     "gemm"},
    {Fault::dropout_of_other_epoch, structural, "another epoch's dropout",
     "the dropout mask is that of the next epoch", "cagnet-1d", "gemm"},
    {Fault::gemm_off, scaled, "GEMM off", "one element of a weight gradient is off", "cagnet-1d", "gemm"},
    {Fault::sigmoid_far_out, structural, "sigmoid wrong far out",
     "sigmoid is 1 for arguments below -178, which this training does not meet", "cagnet-1d", "activation"},
    {Fault::wrong_derivative, structural, "wrong derivative", "ReLU's derivative is 1 everywhere", "cagnet-1d",
     "activation-backward"},
    {Fault::column_sum_off, scaled, "column sum off", "one element of a bias gradient is off", "cagnet-1d",
     "column-sums"},
    {Fault::loss_gradient_off, scaled, "loss gradient off", "one element of the loss' gradient is off",
     "cagnet-1d", "loss"},
    {Fault::loss_mean, structural, "wrong mean", "the loss is the mean over one vertex more than there are",
     "cagnet-1d", "loss"},
    {Fault::class_mean, structural, "mean over vertices alone",
     "the loss of a label matrix is the mean over vertices, but the sum over classes", "cagnet-1d", "loss"},
    {Fault::step_off, scaled, "step off", "one weight is off after SGD's step", "cagnet-1d", "optimizer"},
    {Fault::adam_correction, structural, "wrong Adam correction",
     "Adam corrects its moments as if one step earlier", "cagnet-1d", "optimizer"},
    {Fault::decayed_bias, structural, "decayed bias", "weight decay acts on biases too", "cagnet-1d", "optimizer"},
    {Fault::wrong_gather, structural, "wrong gather", "the last gathered row is the first", "sa-1d",
     "gather-rows"},
    {Fault::unwatched, scaled, "right when watched",
     "in the training that nobody watches, gradients are all-reduced to a multiple of their sum", "cagnet-1d",
     "rerun"},
    {Fault::late_wait, structural, "missing wait", "what was received is used before anybody waited for it",
     "cagnet-1d", "in-flight"},
    // Transport, in float32 alone.
    {Fault::wrong_element, exact, "wrong element of a message",
     "the last element of a message differs by one unit in the last place", "sa-1d", "all-to-all"},
    {Fault::wrong_row, exact, "wrong element of a row",
     "the last element of rows read in place differs by one unit in the last place", "sa-1d", "reading of rows"},
    {Fault::message_of_epoch_before, structural, "message of the epoch before",
     "a broadcast brings what it brought an epoch earlier", "cagnet-1d", "broadcast"},
    {Fault::rank_left_out, structural, "reduction misses a rank",
     "the last rank's part of an all-reduce is left out", "cagnet-1d", "all-reduce"},
    {Fault::reduction_off, scaled, "reduction off", "one element of an all-reduce is off on one rank", "cagnet-1d",
     "all-reduce"},
    // Strategy, in any type.
    {Fault::over_sending, structural, "over-sending", "an epoch broadcasts one row more than is stated",
     "cagnet-1d", "volume"},
    {Fault::wasted_buffer, structural, "wasted buffer", "a rank holds a buffer of 64 bytes that it does not state",
     "cagnet-1d", "memory"},
    {Fault::allocating_epoch, structural, "allocation in an epoch", "every epoch allocates and frees a buffer",
     "cagnet-1d", "memory"},
    {Fault::copy_differs, scaled, "copy differs", "one element of the last rank's copy of a gradient is off",
     "cagnet-1d", "copies", "step"},
    {Fault::gradients_told_wrong, scaled, "gradients told wrong",
     "one element of the gradients that are told is off what was stepped with", "cagnet-1d", "step"},
    {Fault::scheme_off, scaled, "scheme off", "gradients are off, whatever the type", "cagnet-1d", "float64"},
    // Only at full size.
    {Fault::wrong_at_size, structural, "wrong at size",
     "from 1,500 rows on, SpMM leaves out the last nonzero of one row", "cagnet-1d", "probe"},
};

}  // namespace

std::span<const Entry> all() { return entries; }

}  // namespace gnnbench::faults
