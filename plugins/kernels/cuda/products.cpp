// Sparse products by the implementation that was chosen: our kernels, or cuSPARSE.
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "cuda_backend.hpp"

namespace gnnbench::cuda {
namespace {

template <class T>
void set_operands(SpmmCall<T>& call, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    call.b = static_cast<const T*>(b.data);
    require(b.ld <= std::numeric_limits<u32>::max(), "rows of B lie 2^32 elements apart at most");
    call.ldb = static_cast<u32>(b.ld);
    call.c = static_cast<T*>(c.data);
    call.ldc = c.ld;
    call.width = call.read_width = c.cols;
    call.alpha = static_cast<T>(s.alpha);
    call.beta = static_cast<T>(s.beta);
    call.finish = finish<T>(e);
}

/// Columns of a copy of B whose rows begin and end at packs of 16 bytes, where B's do not and the copy costs little beside
/// the product: each row is moved once for it, and read in packs for each of the nonzeros in its column. Else 0. Measured in
/// results/gpu: of use at 48 nonzeros a column, not at 5.
template <class T>
std::int64_t padded_columns(const CudaMatrix& a, ConstMatrixView b) {
    constexpr std::int64_t pack = packs_of<T>.most;
    if (b.cols < pack || packs_of<T>.pack(b.cols, b.data, b.ld) == pack || a.nonzeros < 16 * a.cols) return 0;
    return divided_up(b.cols, pack) * pack;
}

}  // namespace

std::unique_ptr<PreparedMatrix> CudaBackend::do_prepare(const Csr& a, TransposedProducts t) {
    auto m = prepared(a, !options_.attends);
    if (t == TransposedProducts::none) return m;
    const Csr transpose = transpose_of(a);
    if (is_symmetric(a, transpose)) {
        m->format += ", its own transpose";
        return m;
    }
    m->transpose = prepared(transpose, true);
    m->format += "; transpose: " + m->transpose->format;
    return m;
}

std::unique_ptr<CudaMatrix> CudaBackend::prepared(const Csr& a, bool may_leave_out_rows) {
    const bool library = options_.product == ProductChoice::library;
    const bool tries = (options_.product == ProductChoice::measured || library) && !options_.widths.empty();
    auto m = upload_matrix(a, *this,
                           {.always_items = options_.product == ProductChoice::balanced || (tries && !library),
                            .library = tries || library,
                            .only_used = !library && may_leave_out_rows});
    if (options_.product == ProductChoice::rows) m->usual = Product::rows;
    if (options_.product == ProductChoice::panels) m->usual = Product::panels;
    if (library && m->serves_library()) m->usual = Product::library_2;
    if (tries && m->nonzeros > 0) run_trials(*m, hash_of_pattern(a));
    m->format = m->only_used ? "csr of used rows" : "csr";
    for (const auto& [width, product] : m->tried) m->format += fmt::format(", {}: {}", width, name_of(product));
    if (m->tried.empty()) m->format += fmt::format(", {}", name_of(m->usual));
    return m;
}

std::unique_ptr<PreparedMatrix> CudaBackend::do_refer(const CsrView& a) {
    return std::make_unique<ReferredRows>(a);
}

void CudaBackend::perform(const verb::Spmm& v) {
    const auto& m = static_cast<const CudaMatrix&>(v.a);
    multiply(m, m.product(v.c.cols), v.b, v.c, v.s, v.e);
}

void CudaBackend::perform(const verb::SpmmTransposed& v) {
    const auto& m = static_cast<const CudaMatrix&>(v.a);
    const CudaMatrix& transpose = m.transpose ? *m.transpose : m;
    multiply(transpose, transpose.product(v.c.cols), v.b, v.c, v.s, v.e);
}

void CudaBackend::perform(const verb::SpmmUnprepared& v) {
    typed([&]<class T>(T) {
        SpmmCall<T> call;
        call.indptr = v.a.indptr;
        call.indices = v.a.indices;
        call.values = static_cast<const T*>(v.a.values);
        call.units = call.stored = call.rows = v.a.rows;
        set_operands(call, v.b, v.c, v.s, v.e);
        check(cuda::spmm(call, compute()), "launching spmm");
    });
}

void CudaBackend::multiply(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c, Scale s,
                           const Epilogue& e) {
    if (a.nonzeros == 0) how = Product::rows;
    if (is_of_library(how)) {
        multiply_by_library(a, how, b, c, s);
        if (!e.empty()) perform(verb::Apply{e, c, c});
        return;
    }
    typed([&]<class T>(T) {
        const bool by_items = how != Product::rows && a.has_items();
        SpmmCall<T> call = call_for<T>(a, by_items);
        set_operands(call, b, c, s, e);
        call.in_panels = how == Product::panels;
        std::int64_t padded = padded_columns<T>(a, b);
        if (!has_room(usize(a.cols * padded) * sizeof(T))) padded = 0;
        if (padded > 0) call.read_width = padded;
        const std::size_t copy = usize(a.cols * padded) * sizeof(T);
        const std::size_t sums = by_items ? usize(a.slots * call.read_width) * sizeof(T) : 0;
        if (copy + sums > 0) {
            auto* const room = static_cast<std::byte*>(scratch(copy + sums));
            if (sums > 0) call.partial = reinterpret_cast<T*>(room + copy);
            if (padded > 0) {
                const Dense<T> wide{reinterpret_cast<T*>(room), a.cols, padded, padded};
                check(cuda::pad_rows(dense<T>(b), wide, compute()), "launching pad_rows");
                call.b = wide.data;
                call.ldb = static_cast<u32>(padded);
            }
        }
        check(cuda::spmm(call, compute()), "launching spmm");
    });
}

void CudaBackend::multiply_by_library(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c, Scale s) {
    library_product(a, how, b, c).multiply(b, c, s.alpha, s.beta);
}

const LibrarySpmm& CudaBackend::library_product(const CudaMatrix& a, Product how, ConstMatrixView b,
                                                MatrixView c) {
    CudaMatrix::Planned& plan = a.planned[PlanKey(how, b, c)];
    if (plan.product) return *plan.product;
    auto product = std::make_unique<LibrarySpmm>(sparse_, a.for_library(dtype()), algorithm_of(how));
    if (const std::size_t bytes = product->buffer_bytes(b, c); bytes > 0) {
        plan.buffer = own_memory(bytes);
        if (!plan.buffer)
            throw OutOfMemory(fmt::format("cuSPARSE asks for {} bytes beside a product; the device has {} free",
                                          bytes, pool_.free_bytes()));
    }
    product->preprocess(b, c, plan.buffer.get());
    plan.product = std::move(product);
    return *plan.product;
}

}  // namespace gnnbench::cuda
