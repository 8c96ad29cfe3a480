// Chooses the implementation of a sparse matrix's products at set-up, by a short trial for each width to come.
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <gnnbench/usize.hpp>

#include "check.hpp"
#include "cuda_backend.hpp"

namespace gnnbench::cuda {
namespace {

/// The width of a trial where matrices of the wanted width do not fit beside what the device holds.
constexpr std::int64_t narrow_trial = 256;
/// Another implementation must take less than this fraction of the first one's time.
constexpr float worth_changing = 0.95f;

/// Whether a product of rows of so many bytes can be done this way, and is not another way's under its name.
bool may_serve(const CudaMatrix& a, Product how, std::int64_t row_bytes) {
    if (how == Product::rows) return true;
    if (how == Product::balanced) return a.has_items();
    return how == Product::panels ? row_bytes > std::int64_t{16} * panel_lanes : a.serves_library();
}

/// What a trial's outcome depends on, but for noise.
struct Question {
    std::int64_t rows, cols, nonzeros, width;
    DType dtype;
    ProductChoice among;
    bool library;  ///< serves
    int device;
    std::uint64_t pattern;
    auto operator<=>(const Question&) const = default;
};

/// First answers of this process: the trainings that a verification compares with each other add up in one order.
struct Answers {
    std::mutex using_them;
    std::map<Question, Product> of;
};
Answers& answers() {
    static Answers all;
    return all;
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

/// The first is what the others must beat.
std::vector<Product> candidates(ProductChoice among) {
    std::vector<Product> all;
    if (among == ProductChoice::measured) all = {Product::rows, Product::balanced, Product::panels};
    for (const Product p : {Product::library_2, Product::library_3, Product::library_1}) all.push_back(p);
    return all;
}

}  // namespace

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

std::optional<Product> CudaBackend::fastest(const CudaMatrix& a, std::int64_t width,
                                            const std::vector<Product>& candidates, int turns) {
    // B and C of zeros: what is stored in them does not change how long a product takes.
    const auto element = static_cast<std::int64_t>(size_of(dtype()));
    const std::int64_t b_bytes = a.cols * width * element, c_bytes = a.rows * width * element;
    const auto b_memory = own_memory(usize(b_bytes)), c_memory = own_memory(usize(c_bytes));
    if (!b_memory || !c_memory) return std::nullopt;
    check(cudaMemsetAsync(b_memory.get(), 0, usize(b_bytes), compute()), "cudaMemsetAsync");
    const ConstMatrixView b{b_memory.get(), a.cols, width, width, dtype()};
    const MatrixView c{c_memory.get(), a.rows, width, width, dtype()};
    // By turns, so that a clock that rises or falls favours none; the first turn prepares.
    std::map<Product, float> least;
    for (int turn = 0; turn < turns; ++turn)
        for (const Product p : candidates) {
            if (!may_serve(a, p, width * element)) continue;
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
    return best;
}

void CudaBackend::run_trials(CudaMatrix& a, std::uint64_t pattern) {
    const std::set<std::int64_t> widths(options_.widths.begin(), options_.widths.end());
    const auto element = static_cast<std::int64_t>(size_of(dtype()));
    const std::lock_guard lock(answers().using_them);
    const auto fits = [&](std::int64_t w) { return (a.rows + a.cols) * w * element <= pool_.free_bytes() / 2; };
    for (const std::int64_t wanted : widths) {
        const std::int64_t width = fits(wanted) ? wanted : std::min(wanted, narrow_trial);
        if (width <= 0 || !fits(width)) continue;
        const Question question{a.rows,  a.cols,           a.nonzeros,         wanted,
                                dtype(), options_.product, a.serves_library(), options_.device,
                                pattern};
        const auto known = answers().of.find(question);
        const std::optional<Product> best = known == answers().of.end()
                                                ? fastest(a, width, candidates(options_.product), 4)
                                                : fastest(a, width, {known->second}, 1);  // which prepares it
        if (!best) continue;
        answers().of.emplace(question, *best);
        a.tried[wanted] = *best;
        // Frees cuSPARSE's preparations that lost.
        std::erase_if(a.planned,
                      [&](const auto& plan) { return plan.first.width == width && plan.first.how != *best; });
    }
    const bool items = std::ranges::any_of(
        a.tried, [](const auto& t) { return t.second == Product::balanced || t.second == Product::panels; });
    const bool library = std::ranges::any_of(a.tried, [](const auto& t) { return is_of_library(t.second); });
    if (!a.tried.empty() && !items) {
        a.items = {};
        a.split = {};
        a.slots = 0;
    }
    if (!a.tried.empty() && !library) a.narrow_indptr = {};
    pool_.trim();
}

}  // namespace gnnbench::cuda
