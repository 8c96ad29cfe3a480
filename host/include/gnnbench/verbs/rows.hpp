#pragma once
#include <cstdint>

#include <gnnbench/verbs/operands.hpp>

/// Rows that are filled, copied, collected, added up and compared: phase `pack`.

namespace gnnbench {
namespace verb {

struct Fill {
    MatrixView m;
    double value;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "fill"; }
    void check() const {}
    bool empty() const { return m.empty(); }
    auto operands() const { return std::array{writes(m)}; }
};

struct Copy {
    ConstMatrixView from;
    MatrixView to;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "copy"; }
    void check() const { require_same_shape("copy", from, to); }
    bool empty() const { return from.empty(); }
    auto operands() const { return std::array{reads(from), writes(to)}; }
};

struct Axpby {
    double alpha;
    ConstMatrixView x;
    double beta;
    MatrixView y;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "axpby"; }
    void check() const { require_same_shape("axpby", x, y); }
    bool empty() const { return x.empty(); }
    auto operands() const { return std::array{reads(x), reads(y), writes(y)}; }
};

struct SquaredDistance {
    ConstMatrixView x, y;
    double* out;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "squared-distance"; }
    void check() const { require_same_shape("squared_distance", x, y); }
    bool empty() const { return false; }
    auto operands() const { return std::array{reads(x), reads(y)}; }
};

struct GatherRows {
    ConstMatrixView from;
    const std::int32_t* rows;
    MatrixView to;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "gather-rows"; }
    void check() const;
    bool empty() const { return to.empty(); }
    auto operands() const { return std::array{reads(from), writes(to)}; }
};

struct ScatterAddRows {
    ConstMatrixView from;
    const std::int32_t* rows;
    MatrixView to;

    static constexpr Phase phase = Phase::pack;
    const char* operation() const { return "scatter-add-rows"; }
    void check() const;
    bool empty() const { return from.empty(); }
    auto operands() const { return std::array{reads(from), writes(to)}; }
};

}  // namespace verb

#define GNNBENCH_ROW_VERBS(X) X(Fill) X(Copy) X(Axpby) X(SquaredDistance) X(GatherRows) X(ScatterAddRows)

template <class B>
class RowVerbs {
    friend B;
    RowVerbs() = default;

public:
    void fill(MatrixView m, double v) { static_cast<B&>(*this).run(verb::Fill{m, v}); }
    void copy(ConstMatrixView from, MatrixView to) { static_cast<B&>(*this).run(verb::Copy{from, to}); }
    /// y ← alpha · x + beta · y; x may be y. What averages are made of.
    void axpby(double alpha, ConstMatrixView x, double beta, MatrixView y) {
        static_cast<B&>(*this).run(verb::Axpby{alpha, x, beta, y});
    }
    /// out (2 float64, device) ← Σ (x − y)² and Σ y², over all elements.
    void squared_distance(ConstMatrixView x, ConstMatrixView y, double* out) {
        static_cast<B&>(*this).run(verb::SquaredDistance{x, y, out});
    }
    /// to[i] ← from[rows[i]], i < to.rows.
    void gather_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
        static_cast<B&>(*this).run(verb::GatherRows{from, rows, to});
    }
    /// to[rows[i]] += from[i]; rows has no repeats.
    void scatter_add_rows(ConstMatrixView from, const std::int32_t* rows, MatrixView to) {
        static_cast<B&>(*this).run(verb::ScatterAddRows{from, rows, to});
    }
};

}  // namespace gnnbench
