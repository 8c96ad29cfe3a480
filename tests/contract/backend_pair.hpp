#pragma once
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <gnnbench/backend.hpp>
#include <gnnbench/random.hpp>

#include "contract/backend_choice.hpp"

/// A back end beside `reference`, given the same things to do.
namespace gnnbench::contract {

/// In [−1, 1), with more digits than float32 has.
inline double noise(std::uint64_t seed, std::int64_t r, std::int64_t c) {
    const auto word =
        random_word(seed, Draw::features, static_cast<std::uint64_t>(r), static_cast<std::uint32_t>(c), 0);
    return 2 * unit_interval(word) - 1;
}

/// Drawn once: every back end is given the same ones, in each type and with each choice.
inline const HostMatrix& random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
    using Key = std::tuple<std::int64_t, std::int64_t, std::uint64_t>;
    static std::map<Key, HostMatrix> known;
    const Key key(rows, cols, seed);
    const bool is_new = !known.contains(key);
    HostMatrix& m = known[key];
    if (!is_new) return m;
    m = HostMatrix(rows, cols);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c) m(r, c) = noise(seed, r, c);
    return m;
}

/// Whether GNNBENCH_CONTRACT asks for a "twelfth", as it does for the emulator in CI.
bool few_cases();

/// The tested back end first, then `reference` in the same type.
struct BackendPair {
    std::string what;  ///< "cuda spmm=balanced, float32"
    std::unique_ptr<Backend> tested, reference;
    std::function<std::unique_ptr<Backend>()> another;  ///< like the tested one
    std::size_t cases = 0;                              ///< counted on from pair to pair

    /// Whether a test runs the next of its cases. GNNBENCH_CONTRACT asks for a "third", a "sixth" or a "twelfth", others with
    /// each next pair.
    bool takes_next();

    bool f32() const { return tested->dtype() == DType::f32; }
    /// What sums of `terms` products of numbers of about 1 may differ by.
    double tolerance(std::int64_t terms = 1) const {
        return 17 * unit() * (8 + std::sqrt(static_cast<double>(terms)));
    }
    /// The type's unit roundoff.
    double unit() const { return f32() ? 0x1p-24 : 0x1p-53; }
    void both(const std::function<void(Backend&, std::size_t)>& f) {
        f(*tested, 0);
        f(*reference, 1);
    }
};

/// A matrix on both back ends: columns [first, first + cols) of a wider one, so that what lies around the view is
/// seen too.
class Twin {
public:
    Twin(BackendPair& pair, const HostMatrix& values, std::int64_t first = 0, std::int64_t beyond = 0)
        : pair_(pair), first_(first), cols_(values.cols) {
        HostMatrix whole(values.rows, first + values.cols + beyond);
        std::fill(whole.values.begin(), whole.values.end(), 77.0);
        for (std::int64_t r = 0; r < values.rows; ++r)
            for (std::int64_t c = 0; c < values.cols; ++c) whole(r, first + c) = values(r, c);
        pair.both([&](Backend& k, std::size_t i) {
            whole_[i] = k.matrix(whole.rows, whole.cols);
            k.upload(std::span<const double>(whole.values), whole_[i]);
        });
    }
    MatrixView view(std::size_t i) const { return whole_[i].view().cols_from(first_, cols_); }
    MatrixView operator[](std::size_t i) const { return view(i); }

    /// The largest |found − wanted| / max(1, |wanted|) over the whole matrix, NaN as infinity unless both are.
    double difference() const {
        const HostMatrix found = pair_.tested->download(whole_[0]), wanted = pair_.reference->download(whole_[1]);
        double worst = 0;
        for (std::size_t i = 0; i < wanted.values.size(); ++i) {
            if (std::isnan(found.values[i]) && std::isnan(wanted.values[i])) continue;
            const double off =
                std::abs(found.values[i] - wanted.values[i]) / std::max(1.0, std::abs(wanted.values[i]));
            if (!(off <= worst)) worst = std::isnan(off) ? INFINITY : off;
        }
        return worst;
    }

private:
    BackendPair& pair_;
    std::int64_t first_, cols_;
    Matrix whole_[2];
};

/// Plain data on both back ends.
template <class T>
class TwinArray {
public:
    TwinArray(BackendPair& pair, const std::vector<T>& values) {
        pair.both([&](Backend& k, std::size_t i) { arrays_[i] = k.upload(std::span<const T>(values)); });
    }
    T* operator[](std::size_t i) const { return arrays_[i].data(); }
    std::vector<T> read(Backend& k, std::size_t i) const {
        std::vector<T> out(static_cast<std::size_t>(arrays_[i].size()));
        k.download_bytes(arrays_[i].data(), out.data(), out.size() * sizeof(T));
        return out;
    }

private:
    Array<T> arrays_[2];
};

/// Runs `test` for every back end that serves here, in each type. `heads`: of attention over its matrices; 0: none.
void for_every_backend(const std::function<void(BackendPair&)>& test, std::int64_t heads = 0);
/// And with each choice of each parameter that says how it multiplies: for what such a choice may change.
void for_every_choice(const std::function<void(BackendPair&)>& test, std::int64_t heads = 0);

}  // namespace gnnbench::contract
