// Chooses the implementation of a sparse matrix's products at set-up, by a short trial for each width to come.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include <fmt/format.h>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "cuda_backend.hpp"

namespace gnnbench::cuda {
namespace {

/// Wider products are tried at this width: they run as several tiles of it.
constexpr std::int64_t widest_trial = 256;
/// Another implementation must take less than this fraction of the first one's time.
constexpr float worth_changing = 0.95f;

template <class T>
void set_operands(SpmmCall<T>& call, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    call.b = static_cast<const T*>(b.data);
    call.ldb = b.ld;
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

/// An event with a time.
class Stamp {
public:
    explicit Stamp(cudaStream_t stream) {
        check(cudaEventCreate(&e_), "cudaEventCreate");
        const cudaError_t code = cudaEventRecord(e_, stream);
        if (code != cudaSuccess) (void)cudaEventDestroy(e_);
        check(code, "cudaEventRecord");
    }
    Stamp(const Stamp&) = delete;
    Stamp& operator=(const Stamp&) = delete;
    ~Stamp() { (void)cudaEventDestroy(e_); }
    cudaEvent_t get() const { return e_; }

private:
    cudaEvent_t e_ = nullptr;
};

}  // namespace

std::unique_ptr<PreparedMatrix> CudaBackend::do_prepare(const Csr& a, TransposedProducts t) {
    const bool library = options_.product == ProductChoice::library;
    const bool tries = (options_.product == ProductChoice::measured || library) && !options_.widths.empty();
    const bool transposed = t == TransposedProducts::wanted;
    auto m = upload_matrix(a, *this,
                           {.always_items = options_.product == ProductChoice::balanced,
                            .library = tries || library || transposed,
                            .only_used = !library && !transposed});
    if (transposed && m->nonzeros > 0 && !m->serves_library())
        throw EnvironmentError(fmt::format(
            "cuSPARSE multiplies by the transpose of a matrix of fewer than 2^31 nonzeros; this one has {}",
            m->nonzeros));
    if (options_.product == ProductChoice::rows) m->usual = Product::rows;
    if (library && m->serves_library()) m->usual = Product::library_2;
    if (tries && m->nonzeros > 0) run_trials(*m, transposed);
    m->format = m->only_used ? "csr of used rows" : "csr";
    for (const auto& [width, product] : m->tried) m->format += fmt::format(", {}: {}", width, name_of(product));
    if (m->tried.empty()) m->format += fmt::format(", {}", name_of(m->usual));
    return m;
}

void CudaBackend::do_spmm(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    const auto& m = static_cast<const CudaMatrix&>(a);
    multiply(m, m.product(c.cols), b, c, s, e);
}

void CudaBackend::do_spmm_transposed(const PreparedMatrix& a, ConstMatrixView b, MatrixView c, Scale s,
                                     const Epilogue& e) {
    const auto& m = static_cast<const CudaMatrix&>(a);
    if (m.nonzeros > 0)
        multiply_by_library(m, Product::transposed, b, c, s);
    else
        keep(c, s.beta);
    if (!e.empty()) do_apply(e, c, c);
}

void CudaBackend::do_spmm(const CsrView& a, ConstMatrixView b, MatrixView c, Scale s, const Epilogue& e) {
    typed([&]<class T>(T) {
        SpmmCall<T> call;
        call.indptr = a.indptr;
        call.indices = a.indices;
        call.values = static_cast<const T*>(a.values);
        call.units = call.stored = call.rows = a.rows;
        set_operands(call, b, c, s, e);
        check(cuda::spmm(call, compute()), "launching spmm");
    });
}

void CudaBackend::multiply(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c, Scale s,
                           const Epilogue& e) {
    if (a.nonzeros == 0) how = Product::rows;
    if (how == Product::library_2 || how == Product::library_3) {
        multiply_by_library(a, how, b, c, s);
        if (!e.empty()) do_apply(e, c, c);
        return;
    }
    typed([&]<class T>(T) {
        const bool by_items = how == Product::balanced && a.has_items();
        SpmmCall<T> call = call_for<T>(a, by_items);
        set_operands(call, b, c, s, e);
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
                call.ldb = padded;
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
    CudaMatrix::Planned& plan = a.planned[{c.cols, how}];
    if (plan.product) return *plan.product;
    auto product = std::make_unique<LibrarySpmm>(
        sparse_, a.for_library(dtype()), algorithm_of(how),
        how == Product::transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE);
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

/// A product's time, on a device that another keeps busy while the host starts the first; nothing where cuSPARSE refuses or
/// memory is short.
std::optional<float> CudaBackend::trial_ms(const CudaMatrix& a, Product how, ConstMatrixView b, MatrixView c) {
    constexpr int products = 3;
    try {
        multiply(a, how, b, c, {}, {});
        const Stamp begin(compute());
        for (int i = 0; i < products; ++i) multiply(a, how, b, c, {}, {});
        const Stamp end(compute());
        streams_.synchronize(StreamRole::compute);
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "cudaEventElapsedTime");
        return ms / products;
    } catch (const OutOfMemory&) {
        return std::nullopt;
    } catch (const EnvironmentError&) {
        // Only a library's refusal leaves the device usable; any other error is reported again here.
        streams_.synchronize(StreamRole::compute);
        return std::nullopt;
    }
}

void CudaBackend::run_trials(CudaMatrix& a, bool keeps_narrow_indptr) {
    std::set<std::int64_t> widths;
    for (const std::int64_t w : options_.widths) widths.insert(std::clamp<std::int64_t>(w, 1, widest_trial));
    const auto element = static_cast<std::int64_t>(size_of(dtype()));
    const std::vector<Product> candidates =
        options_.product == ProductChoice::library
            ? std::vector{Product::library_2, Product::library_3}
            : std::vector{Product::rows, Product::balanced, Product::library_2, Product::library_3};
    for (const std::int64_t width : widths) {
        // B and C of zeros: what is stored in them does not change how long a product takes.
        const std::int64_t b_bytes = a.cols * width * element, c_bytes = a.rows * width * element;
        if (b_bytes + c_bytes > pool_.free_bytes() / 2) continue;
        const auto b_memory = own_memory(usize(b_bytes)), c_memory = own_memory(usize(c_bytes));
        if (!b_memory || !c_memory) continue;
        check(cudaMemsetAsync(b_memory.get(), 0, usize(b_bytes), compute()), "cudaMemsetAsync");
        const ConstMatrixView b{b_memory.get(), a.cols, width, width, dtype()};
        const MatrixView c{c_memory.get(), a.rows, width, width, dtype()};
        // By turns, so that a clock that rises or falls favours none; the first turn prepares.
        std::map<Product, float> least;
        for (int turn = 0; turn < 4; ++turn)
            for (const Product p : candidates) {
                if (p == Product::balanced ? !a.has_items() : p != Product::rows && !a.serves_library()) continue;
                if (turn > 0 && !least.contains(p)) continue;  // refused
                const std::optional<float> ms = trial_ms(a, p, b, c);
                if (!ms)
                    least.erase(p);
                else if (turn <= 1)
                    least[p] = *ms;
                else
                    least[p] = std::min(least[p], *ms);
            }
        std::optional<Product> best;
        for (const Product p : candidates) {
            if (!least.contains(p)) continue;
            // The first must be beaten by a margin, or noise would decide.
            if (p == candidates.front()) least[p] *= worth_changing;
            if (!best || least[p] < least[*best]) best = p;
        }
        if (!best) continue;
        a.tried[width] = *best;
        // Frees cuSPARSE's preparations that lost.
        std::erase_if(a.planned,
                      [&](const auto& plan) { return plan.first.first == width && plan.first.second != *best; });
    }
    const bool items = std::ranges::any_of(a.tried, [](const auto& t) { return t.second == Product::balanced; });
    const bool library =
        std::ranges::any_of(a.tried, [](const auto& t) { return t.second >= Product::library_2; });
    if (!a.tried.empty() && !items) {
        a.items = {};
        a.split = {};
        a.slots = 0;
    }
    if (!a.tried.empty() && !library && !keeps_narrow_indptr) a.narrow_indptr = {};
    pool_.trim();
}

}  // namespace gnnbench::cuda
