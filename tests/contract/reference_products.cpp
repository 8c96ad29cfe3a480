// The oracle's products: the sums of plain loops to the bit, on one thread and on several.
#include "contract/backend_pair.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

std::unique_ptr<Backend> reference(DType dtype, int threads) {
    static const PluginCatalog plugins;
    return plugins.kernel("reference")->create({.dtype = dtype, .threads = threads});
}

/// In the type's precision, as an operand is read.
HostMatrix operand(DType dtype, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    HostMatrix m = random_matrix(rows, cols, seed);
    if (dtype == DType::f32)
        for (double& x : m.values) x = static_cast<float>(x);
    return m;
}

/// Σ_k A(r, k)·B(k, c) of the entries that `has` says are there, one product and one sum after another.
template <class Has>
HostMatrix plain_product(const HostMatrix& a, const HostMatrix& b, DType dtype, Has has) {
    HostMatrix c(a.rows, b.cols);
    for (std::int64_t r = 0; r < c.rows; ++r)
        for (std::int64_t j = 0; j < c.cols; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < a.cols; ++k) {
                if (!has(r, k)) continue;
                volatile double product = a(r, k) * b(k, j);  // no fused multiply-add
                sum += product;
            }
            c(r, j) = dtype == DType::f32 ? static_cast<float>(sum) : sum;
        }
    return c;
}

HostMatrix transposed(const HostMatrix& m) {
    HostMatrix t(m.cols, m.rows);
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = 0; c < m.cols; ++c) t(c, r) = m(r, c);
    return t;
}

Matrix uploaded(Backend& backend, const HostMatrix& m) {
    Matrix on_device = backend.matrix(m.rows, m.cols);
    backend.upload(std::span<const double>(m.values), on_device);
    return on_device;
}

}  // namespace

TEST_CASE("the oracle's products are those of plain loops to the bit, whatever its threads") {
    const DType dtype = GENERATE(DType::f32, DType::f64);
    const int threads = GENERATE(1, 3);
    const std::int64_t cols = GENERATE(1, 41, 130), rows = 203, inner = 301;
    CAPTURE(dtype, threads, cols);
    const auto backend = reference(dtype, threads);
    const HostMatrix a = operand(dtype, rows, inner, 1), b = operand(dtype, inner, cols, 2);

    const HostMatrix dense = plain_product(a, b, dtype, [](auto, auto) { return true; });
    const Matrix a_device = uploaded(*backend, a), a_turned = uploaded(*backend, transposed(a)),
                 b_device = uploaded(*backend, b), b_turned = uploaded(*backend, transposed(b));
    Matrix c = backend->matrix(rows, cols);
    for (const Transpose ta : {Transpose::no, Transpose::yes})
        for (const Transpose tb : {Transpose::no, Transpose::yes}) {
            backend->gemm(ta, ta == Transpose::no ? a_device : a_turned, tb,
                          tb == Transpose::no ? b_device : b_turned, c);
            CHECK(backend->download(c).values == dense.values);
        }

    const auto is_entry = [](std::int64_t r, std::int64_t k) { return r % 7 != 3 && (r + k) % 5 == 0; };
    Csr sparse;
    sparse.rows = rows;
    sparse.cols = inner;
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t k = 0; k < inner; ++k)
            if (is_entry(r, k)) {
                sparse.indices.push_back(static_cast<std::int32_t>(k));
                sparse.values.push_back(a(r, k));
            }
        sparse.indptr.push_back(std::ssize(sparse.indices));
    }
    const auto prepared = backend->prepare(sparse, TransposedProducts::none);
    backend->spmm(*prepared, b_device, c);
    CHECK(backend->download(c).values == plain_product(a, b, dtype, is_entry).values);
}
