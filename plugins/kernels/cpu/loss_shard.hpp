#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/usize.hpp>

#include "threads.hpp"

/// Softmax cross entropy of rows whose classes are distributed. A shard is a few columns wide, so plain loops suffice.
namespace gnnbench::cpu {

inline constexpr std::int64_t shard_rows = 1 << 12;  ///< that a thread takes at a time

template <class T>
void row_maxima(int threads, ConstMatrixView logits, MatrixView maxima) {
    parallel_chunks(threads, logits.rows, shard_rows, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const T* z = static_cast<const T*>(logits.data) + r * logits.ld;
            T largest = -std::numeric_limits<T>::infinity();
            for (std::int64_t c = 0; c < logits.cols; ++c) largest = std::max(largest, z[c]);
            static_cast<T*>(maxima.data)[r * maxima.ld] = largest;
        }
    });
}

template <class T>
void row_exp_sums(int threads, ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    parallel_chunks(threads, logits.rows, shard_rows, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const T* z = static_cast<const T*>(logits.data) + r * logits.ld;
            const T largest = static_cast<const T*>(maxima.data)[r * maxima.ld];
            T sum = 0;
            for (std::int64_t c = 0; c < logits.cols; ++c) sum += std::exp(z[c] - largest);
            static_cast<T*>(sums.data)[r * sums.ld] = sum;
        }
    });
}

template <class T>
double softmax_cross_entropy_shard(int threads, ConstMatrixView logits, ConstMatrixView maxima,
                                   ConstMatrixView sums, std::int64_t first_class, const LossInput& in,
                                   MatrixView grad) {
    std::vector<double> losses(usize((logits.rows + shard_rows - 1) / shard_rows));
    const auto scale = static_cast<T>(in.scale);
    parallel_chunks(threads, logits.rows, shard_rows, [&](std::int64_t begin, std::int64_t end) {
        double loss = 0;
        for (std::int64_t r = begin; r < end; ++r) {
            T* g = static_cast<T*>(grad.data) + r * grad.ld;
            if (in.split[r] != in.counted) {
                std::fill_n(g, grad.cols, T{0});
                continue;
            }
            const T* z = static_cast<const T*>(logits.data) + r * logits.ld;
            const T largest = static_cast<const T*>(maxima.data)[r * maxima.ld];
            const T sum = static_cast<const T*>(sums.data)[r * sums.ld], share = scale / sum;
            const std::int64_t label = in.labels[r] - first_class;
            if (label >= 0 && label < logits.cols)
                loss += (double{largest} + std::log(double{sum}) - double{z[label]}) * in.scale;
            for (std::int64_t c = 0; c < logits.cols; ++c)
                g[c] = std::exp(z[c] - largest) * share - (c == label ? scale : T{0});
        }
        losses[usize(begin / shard_rows)] = loss;
    });
    double loss = 0;
    for (const double of_run : losses) loss += of_run;
    return loss;
}

}  // namespace gnnbench::cpu
