// Softmax cross entropy of rows whose classes are distributed. A shard is a few columns wide, so plain loops suffice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/cpu_kernel.hpp"
#include "kernels/cpu/threads.hpp"

namespace gnnbench::cpu {
namespace {

constexpr std::int64_t run = 1 << 12;  // rows a thread takes at a time

const float* row_at(ConstMatrixView m, std::int64_t r) { return static_cast<const float*>(m.data) + r * m.ld; }
float* row_at(MatrixView m, std::int64_t r) { return static_cast<float*>(m.data) + r * m.ld; }

}  // namespace

void CpuKernel::do_row_maxima(ConstMatrixView logits, MatrixView maxima) {
    parallel_chunks(threads_, logits.rows, run, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const float* z = row_at(logits, r);
            float largest = -std::numeric_limits<float>::infinity();
            for (std::int64_t c = 0; c < logits.cols; ++c) largest = std::max(largest, z[c]);
            *row_at(maxima, r) = largest;
        }
    });
}

void CpuKernel::do_row_exp_sums(ConstMatrixView logits, ConstMatrixView maxima, MatrixView sums) {
    parallel_chunks(threads_, logits.rows, run, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) {
            const float* z = row_at(logits, r);
            const float largest = *row_at(maxima, r);
            float sum = 0;
            for (std::int64_t c = 0; c < logits.cols; ++c) sum += std::exp(z[c] - largest);
            *row_at(sums, r) = sum;
        }
    });
}

void CpuKernel::do_softmax_cross_entropy_shard(ConstMatrixView logits, ConstMatrixView maxima,
                                               ConstMatrixView sums, std::int64_t first_class, const LossInput& in,
                                               MatrixView grad, double* loss_out) {
    std::vector<double> losses(static_cast<std::size_t>((logits.rows + run - 1) / run));
    const auto scale = static_cast<float>(in.scale);
    parallel_chunks(threads_, logits.rows, run, [&](std::int64_t begin, std::int64_t end) {
        double loss = 0;
        for (std::int64_t r = begin; r < end; ++r) {
            float* g = row_at(grad, r);
            if (in.split[r] != in.counted) {
                std::fill_n(g, grad.cols, 0.0f);
                continue;
            }
            const float* z = row_at(logits, r);
            const float largest = *row_at(maxima, r), sum = *row_at(sums, r), share = scale / sum;
            const std::int64_t label = in.labels[r] - first_class;
            if (label >= 0 && label < logits.cols)
                loss += (double{largest} + std::log(double{sum}) - double{z[label]}) * in.scale;
            for (std::int64_t c = 0; c < logits.cols; ++c)
                g[c] = std::exp(z[c] - largest) * share - (c == label ? scale : 0.0f);
        }
        losses[static_cast<std::size_t>(begin / run)] = loss;
    });
    *loss_out = 0;
    for (const double loss : losses) *loss_out += loss;
}

}  // namespace gnnbench::cpu
