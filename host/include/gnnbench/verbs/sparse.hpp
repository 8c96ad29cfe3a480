#pragma once
#include <cstdint>
#include <string>

#include <gnnbench/verbs/operands.hpp>

/// Sparse × dense products.

namespace gnnbench {

/// A sparse matrix in its back end's preferred format, prepared once and multiplied often. Opaque; immutable.
class PreparedMatrix {
public:
    virtual ~PreparedMatrix();
    std::int64_t rows = 0, cols = 0, nonzeros = 0;
    bool multiplies_transposed = false;  ///< spmm_transposed may be called
    /// What the back end chose, for the record: "csr", "tiled 16384 x 64".
    std::string format;
};

/// Whether a matrix is prepared for products by its transpose too, for which a back end may keep an index of its
/// columns, but never its values a second time.
enum class TransposedProducts : std::uint8_t { none, wanted };

/// A CSR matrix in device memory, used without preparation: for matrices that arrive or change within an epoch.
struct CsrView {
    const std::int64_t* indptr = nullptr;   ///< length rows + 1
    const std::int32_t* indices = nullptr;  ///< length indptr[rows]
    const void* values = nullptr;           ///< length indptr[rows], of the back end's dtype
    std::int64_t rows = 0, cols = 0;
    std::int64_t nonzeros = 0;  ///< indptr[rows], which the host cannot read there
    /// Original ids of the vertices of its rows and columns, as in Csr; else nullptr.
    const std::int64_t *row_vertices = nullptr, *col_vertices = nullptr;
};

namespace verb {

struct Spmm {
    const PreparedMatrix& a;
    ConstMatrixView b;
    MatrixView c;
    Scale s = {};
    Epilogue e = {};

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "spmm"; }
    void check() const;
    bool empty() const { return c.empty(); }
    auto operands() const { return std::array{reads(b), writes(c)}; }
};

struct SpmmUnprepared {
    CsrView a;
    ConstMatrixView b;
    MatrixView c;
    Scale s = {};
    Epilogue e = {};

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "spmm-unprepared"; }
    void check() const;
    bool empty() const { return c.empty(); }
    auto operands() const { return std::array{reads(b), writes(c)}; }
};

struct SpmmTransposed {
    const PreparedMatrix& a;
    ConstMatrixView b;
    MatrixView c;
    Scale s = {};
    Epilogue e = {};

    static constexpr Phase phase = Phase::spmm;
    const char* operation() const { return "spmm-transposed"; }
    void check() const;
    bool empty() const { return c.empty(); }
    auto operands() const { return std::array{reads(b), writes(c)}; }
};

}  // namespace verb

#define GNNBENCH_SPARSE_VERBS(X) X(Spmm) X(SpmmUnprepared) X(SpmmTransposed)

/// C [m × f] from A [m × n], B [n × f]. B and C do not overlap. Back ends of one process and setting multiply by equal
/// matrices in the same order of sums (transposes apart): a verification compares them.
template <class B>
class SparseVerbs {
    friend B;
    SparseVerbs() = default;

public:
    void spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s = {}, const Epilogue& e = {}) {
        static_cast<B&>(*this).run(verb::Spmm{a, b, c, s, e});
    }
    void spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s = {}, const Epilogue& e = {}) {
        static_cast<B&>(*this).run(verb::SpmmUnprepared{a, b, c, s, e});
    }
    /// C [n × f] from Aᵀ, B [m × f]; A [m × n] is prepared with TransposedProducts::wanted.
    void spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s = {},
                         const Epilogue& e = {}) {
        static_cast<B&>(*this).run(verb::SpmmTransposed{a, b, c, s, e});
    }
};

}  // namespace gnnbench
