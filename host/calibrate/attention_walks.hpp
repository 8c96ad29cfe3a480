#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gnnbench/backend.hpp>

#include "calibrate/samples.hpp"

namespace gnnbench {

/// The verbs of layers that attend, 8 heads of 16 columns in float32, over one matrix, and what they work on.
class AttentionWalks {
public:
    static constexpr int heads = 8;
    /// Valid as long as these walks are.
    struct Walk {
        std::function<void()> run, product;  ///< and a sparse product of its operand's width
        AttentionSample sample;              ///< without times
    };

    /// `backend`: of so many heads (KernelSetting::heads).
    AttentionWalks(Backend& backend, const Csr& entries);
    const std::vector<Walk>& of_gat() const { return gat_; }
    const std::vector<Walk>& of_gatv2() const { return gatv2_; }

private:
    MatrixView matrix(std::int64_t rows, std::int64_t cols);
    /// Of rows that hold `row_columns` numbers, and an operand of `width` columns.
    Walk walk(std::int64_t width, double operations, std::int64_t row_columns, std::function<void()> run);

    Backend& backend_;
    std::unique_ptr<PreparedMatrix> entries_;
    std::vector<Matrix> memory_;
    std::vector<Walk> gat_, gatv2_;
};

}  // namespace gnnbench
