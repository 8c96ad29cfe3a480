#include "faults/faults.hpp"

namespace gnnbench::faults {
namespace {

constexpr Entry entries[] = {
    // Kernel, in float32 alone.
    {Fault::last_nonzero_dropped, "last nonzero dropped", "SpMM leaves out the last nonzero of one row",
     "cagnet-1d", "spmm"},
    {Fault::wrong_tail_column, "wrong tail column",
     "SpMM's last column, beyond whole vectors, holds the one before it", "cagnet-1d", "spmm"},
    {Fault::stale_tile, "stale tile", "four rows of SpMM's result are those of the call before", "cagnet-1d",
     "spmm"},
    {Fault::rows_swapped, "rows swapped", "two rows of SpMM's result have changed places", "cagnet-1d", "spmm"},
    {Fault::beta_ignored, "beta ignored", "SpMM overwrites C where it must add to it", "cagnet-1d", "spmm"},
    {Fault::product_off, "SpMM off", "one element of SpMM is off by 8 bounds", "cagnet-1d", "spmm"},
    {Fault::bias_dropped, "bias dropped", "the last column of a product gets no bias", "cagnet-1d", "gemm"},
    {Fault::masked_element, "ReLU's zero off", "an element that ReLU has made 0 is off by 8 bounds", "cagnet-1d",
     "gemm"},
    {Fault::dropout_of_other_epoch, "another epoch's dropout", "the dropout mask is that of the next epoch",
     "cagnet-1d", "gemm"},
    {Fault::gemm_off, "GEMM off", "one element of a weight gradient is off by 8 bounds", "cagnet-1d", "gemm"},
    {Fault::wrong_derivative, "wrong derivative", "ReLU's derivative is 1 everywhere", "cagnet-1d",
     "activation-backward"},
    {Fault::column_sum_off, "column sum off", "one element of a bias gradient is off by 8 bounds", "cagnet-1d",
     "column-sums"},
    {Fault::loss_scale, "wrong loss scale", "the loss is scaled by 1.0001 of what it should be", "cagnet-1d",
     "loss"},
    {Fault::adam_correction, "wrong Adam correction", "Adam corrects its moments as if one step earlier",
     "cagnet-1d", "optimizer"},
    {Fault::decayed_bias, "decayed bias", "weight decay acts on biases too", "cagnet-1d", "optimizer"},
    {Fault::wrong_gather, "wrong gather", "the last gathered row is the first", "sa-1d", "gather-rows"},
    {Fault::unwatched, "right when watched", "the first kernel that is made, which nobody watches, is off by 1e-3",
     "cagnet-1d", "rerun"},
    {Fault::late_wait, "missing wait", "what was received is used before anybody waited for it", "cagnet-1d",
     "in-flight"},
    // Transport, in float32 alone.
    {Fault::wrong_element, "wrong element of a message",
     "the last element of a message differs by one unit in the last place", "sa-1d", "all-to-all"},
    {Fault::message_of_epoch_before, "message of the epoch before",
     "a broadcast brings what it brought an epoch earlier", "cagnet-1d", "broadcast"},
    {Fault::rank_left_out, "reduction misses a rank", "the last rank's part of an all-reduce is left out",
     "cagnet-1d", "all-reduce"},
    {Fault::reduction_off, "reduction off", "one element of an all-reduce is off by 8 bounds on one rank",
     "cagnet-1d", "all-reduce"},
    // Strategy, in any type.
    {Fault::over_sending, "over-sending", "an epoch broadcasts one row more than is stated", "cagnet-1d",
     "volume"},
    {Fault::wasted_buffer, "wasted buffer", "a rank holds a buffer of 64 bytes that it does not state",
     "cagnet-1d", "memory"},
    {Fault::allocating_epoch, "allocation in an epoch", "every epoch allocates and frees a buffer", "cagnet-1d",
     "memory"},
    {Fault::copy_differs, "copy differs", "the last rank's copy of a gradient has one element 1% off", "cagnet-1d",
     "copies"},
    {Fault::gradients_told_wrong, "gradients told wrong",
     "gradients are told 1.001 times what was stepped with, in float32", "cagnet-1d", "step"},
    {Fault::scheme_off, "scheme off", "gradients are 1e-7 off, whatever the type", "cagnet-1d", "float64"},
    // Only at full size.
    {Fault::wrong_at_size, "wrong at size", "from 1,500 rows on, SpMM leaves out the last nonzero of one row",
     "cagnet-1d", "probe"},
};

}  // namespace

std::span<const Entry> all() { return entries; }

}  // namespace gnnbench::faults
