// Every back end against `reference`: sparse and dense products, with every epilogue, scale and view.
#include <numeric>

#include <gnnbench/training/adjacency.hpp>

#include "contract/backend_pair.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

/// Rows of the given lengths at columns drawn anew for each; values in [−1, 1).
Csr csr_of(const std::vector<std::int64_t>& lengths, std::int64_t cols, std::uint64_t seed) {
    Csr a;
    a.rows = std::ssize(lengths);
    a.cols = cols;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
        // Every step-th column, from a drawn one: ascending and without repeats.
        const std::int64_t n = lengths[r], step = n > 0 ? cols / n : 1;
        const std::int64_t first = step > 1 ? static_cast<std::int64_t>(seed + r * 7) % step : 0;
        for (std::int64_t i = 0; i < n; ++i) {
            a.indices.push_back(static_cast<std::int32_t>(first + i * step));
            a.values.push_back(noise(seed, static_cast<std::int64_t>(r), i));
        }
        a.indptr.push_back(std::ssize(a.indices));
    }
    return a;
}

std::vector<std::pair<std::string, Csr>> sparse_matrices() {
    std::vector<std::int64_t> mixed;
    for (std::int64_t r = 0; r < 45; ++r) mixed.push_back(r % 7 == 3 ? 0 : r % 13);
    std::vector<std::int64_t> uneven(40, 3);
    uneven[5] = 1500;
    uneven[17] = 700;
    uneven[39] = 0;
    std::vector<std::int64_t> few(70, 0), few_uneven(70, 0);
    few[3] = few[4] = 5;
    few[40] = 1;
    few[69] = 9;
    for (std::size_t r = 1; r < 68; r += 2) few_uneven[r] = 2;
    few_uneven[33] = 1500;
    // Several nonzeros a column: where preparing B for the product pays.
    std::vector<std::int64_t> full, full_uneven(480, 40);
    for (std::int64_t r = 0; r < 60; ++r) full.push_back(r % 9 == 4 ? 0 : 13 + r % 20);
    full_uneven[7] = 1100;
    full_uneven[300] = 130;
    return {{"mixed", csr_of(mixed, 61, 1)},
            {"full rows", csr_of(full, 50, 9)},
            {"full rows, one long", csr_of(full_uneven, 1200, 10)},
            {"mostly empty rows", csr_of(few, 61, 7)},
            {"mostly empty rows, one long", csr_of(few_uneven, 1600, 8)},
            {"two long rows", csr_of(uneven, 1600, 2)},
            {"no nonzeros", csr_of(std::vector<std::int64_t>(9, 0), 5, 3)},
            {"no columns", csr_of(std::vector<std::int64_t>(4, 0), 0, 4)},
            {"no rows", csr_of({}, 6, 5)},
            {"one entry", csr_of({1}, 1, 6)}};
}

/// What takes long and would show nothing new: wide products of many matrices, and full ones at widths that packs divide.
bool left_out(const std::string& name, std::int64_t width) {
    return width > 200 ? name != "two long rows"
                       : name.starts_with("full rows") && (width % 4 == 0 ? width != 96 : width < 3);
}

/// Bias, an activation and dropout on both back ends; ids far apart and above 2^32.
struct TwinEpilogue {
    TwinEpilogue(BackendPair& pair, std::int64_t rows, std::int64_t cols, Activation a, double rate,
                 std::uint32_t first_column)
        : bias(pair, random_matrix(1, cols, 9)),
          ids(pair, row_ids(rows)),
          activation(a),
          mask{.rate = rate, .seed = 0x123456789abcdefu, .layer = 3, .epoch = 12, .first_column = first_column} {}
    static std::vector<std::int64_t> row_ids(std::int64_t rows) {
        std::vector<std::int64_t> ids;
        for (std::int64_t r = 0; r < rows; ++r) ids.push_back(r * 5'000'000'019);
        return ids;
    }
    Epilogue operator[](std::size_t i) const {
        return {.bias = bias[i].data, .activation = activation, .dropout = mask, .row_ids = ids[i]};
    }
    Twin bias;
    TwinArray<std::int64_t> ids;
    Activation activation;
    DropoutMask mask;
};

struct View {
    std::int64_t first, beyond;
};

}  // namespace

TEST_CASE("kernel: sparse times dense, prepared") {
    for_every_choice([](BackendPair& pair) {
        for (const auto& [name, a] : sparse_matrices()) {
            if (!pair.takes_next()) continue;
            std::unique_ptr<PreparedMatrix> prepared[2];
            pair.both([&](Backend& k, std::size_t i) { prepared[i] = k.prepare(a); });
            CHECK(prepared[0]->nonzeros == a.nonzeros());
            for (const std::int64_t width : {1, 2, 3, 4, 8, 16, 17, 32, 41, 64, 96, 128, 130, 260, 602}) {
                if (left_out(name, width)) continue;
                const View at = width % 3 == 0 ? View{1, 2} : (width % 3 == 1 ? View{4, 4} : View{0, 0});
                INFO(name << ", width " << width << ", " << pair.what);
                const Twin b(pair, random_matrix(a.cols, width, 1), at.first, at.beyond);
                HostMatrix nothing(a.rows, width);  // every row is written
                std::fill(nothing.values.begin(), nothing.values.end(), NAN);
                const Twin plain(pair, nothing, at.first, at.beyond);
                pair.both([&](Backend& k, std::size_t i) { k.spmm(*prepared[i], b[i], plain[i]); });
                CHECK(plain.difference() < pair.tolerance(1500));
                const Twin scaled(pair, random_matrix(a.rows, width, 3), at.first, at.beyond);
                const TwinEpilogue e(pair, a.rows, width, Activation::leaky_relu, width % 2 == 0 ? 0.4 : 0.0,
                                     static_cast<std::uint32_t>(width % 5));
                pair.both(
                    [&](Backend& k, std::size_t i) { k.spmm(*prepared[i], b[i], scaled[i], {-0.5, 2}, e[i]); });
                CHECK(scaled.difference() < pair.tolerance(1500));
                if (!name.starts_with("mostly empty")) continue;
                // Rows without entries stay as they are, or take the epilogue alone.
                const Twin added(pair, random_matrix(a.rows, width, 2), at.first, at.beyond);
                pair.both([&](Backend& k, std::size_t i) { k.spmm(*prepared[i], b[i], added[i], {1, 1}); });
                CHECK(added.difference() < pair.tolerance(1500));
                const Twin activated(pair, random_matrix(a.rows, width, 4), at.first, at.beyond);
                const TwinEpilogue only(pair, a.rows, width, Activation::sigmoid, 0.0, 0);
                pair.both(
                    [&](Backend& k, std::size_t i) { k.spmm(*prepared[i], b[i], activated[i], {1, 1}, only[i]); });
                CHECK(activated.difference() < pair.tolerance(1500));
            }
        }
    });
}

TEST_CASE("kernel: the transpose of a prepared matrix times dense, and the matrix itself as before") {
    for_every_choice([](BackendPair& pair) {
        for (const auto& [name, a] : sparse_matrices()) {
            if (!pair.takes_next()) continue;
            std::unique_ptr<PreparedMatrix> prepared[2];
            pair.both([&](Backend& k, std::size_t i) { prepared[i] = k.prepare(a, TransposedProducts::wanted); });
            CHECK(prepared[0]->multiplies_transposed);
            for (const std::int64_t width : {1, 3, 8, 17, 64, 130, 602}) {
                if (left_out(name, width)) continue;
                const View at = width % 3 == 0 ? View{1, 2} : (width % 3 == 1 ? View{4, 4} : View{0, 0});
                INFO(name << ", width " << width << ", " << pair.what);
                const Twin b(pair, random_matrix(a.rows, width, 1), at.first, at.beyond);
                HostMatrix nothing(a.cols, width);
                std::fill(nothing.values.begin(), nothing.values.end(), NAN);
                const Twin plain(pair, nothing, at.first, at.beyond);
                pair.both([&](Backend& k, std::size_t i) { k.spmm_transposed(*prepared[i], b[i], plain[i]); });
                CHECK(plain.difference() < pair.tolerance(1500));
                const Twin added(pair, random_matrix(a.cols, width, 2));
                pair.both(
                    [&](Backend& k, std::size_t i) { k.spmm_transposed(*prepared[i], b[i], added[i], {1, 1}); });
                CHECK(added.difference() < pair.tolerance(1500));
                const Twin scaled(pair, random_matrix(a.cols, width, 3), at.first, at.beyond);
                const TwinEpilogue e(pair, a.cols, width, Activation::relu, width % 2 == 0 ? 0.4 : 0.0,
                                     static_cast<std::uint32_t>(width % 5));
                pair.both([&](Backend& k, std::size_t i) {
                    k.spmm_transposed(*prepared[i], b[i], scaled[i], {-0.5, 2}, e[i]);
                });
                CHECK(scaled.difference() < pair.tolerance(1500));
                const Twin x(pair, random_matrix(a.cols, width, 4)), y(pair, random_matrix(a.rows, width, 5));
                pair.both([&](Backend& k, std::size_t i) { k.spmm(*prepared[i], x[i], y[i]); });
                CHECK(y.difference() < pair.tolerance(1500));
            }
        }
    });
}

TEST_CASE(
    "kernel: the transpose of A times B is what the prepared transpose gives, and refused where not asked for") {
    for_every_choice([](BackendPair& pair) {
        const Csr a = csr_of({3, 0, 2, 5}, 7, 1), t = transposed(a);
        const Twin b(pair, random_matrix(4, 8, 1)), c(pair, random_matrix(7, 8, 2));
        pair.tested->spmm_transposed(*pair.tested->prepare(a, TransposedProducts::wanted), b[0], c[0]);
        pair.reference->spmm(*pair.reference->prepare(t), b[1], c[1]);
        CHECK(c.difference() < pair.tolerance(4));
        CHECK_THROWS_AS(pair.tested->spmm_transposed(*pair.tested->prepare(a), b[0], c[0]), LogicError);
    });
}

TEST_CASE("kernel: another back end of the same setting adds up in the same order") {
    for_every_choice([](BackendPair& pair) {
        const std::unique_ptr<Backend> other = pair.another();
        for (const auto& [name, a] : sparse_matrices()) {
            if (!pair.takes_next()) continue;
            const auto first = pair.tested->prepare(a), again = other->prepare(a);
            CHECK(first->format == again->format);
            for (const std::int64_t width : {17, 64, 260}) {
                INFO(name << ", width " << width << ", " << pair.what);
                const HostMatrix& values = random_matrix(a.cols, width, 1);
                const auto product = [&](Backend& k, const PreparedMatrix& m) {
                    const Matrix b = k.matrix(a.cols, width), c = k.matrix(a.rows, width);
                    k.upload(std::span<const double>(values.values), b);
                    k.spmm(m, b, c);
                    return k.download(c);
                };
                const bool same = product(*pair.tested, *first).values == product(*other, *again).values;
                CHECK(same);  // of which Catch2 would print every element
            }
        }
    });
}

TEST_CASE("kernel: sparse times dense with beta 0 never reads C") {
    for_every_choice([](BackendPair& pair) {
        const Csr a = csr_of({3, 0, 2, 5}, 7, 1);
        HostMatrix nothing(4, 8);
        std::fill(nothing.values.begin(), nothing.values.end(), NAN);
        const Twin b(pair, random_matrix(7, 8, 1)), c(pair, nothing);
        pair.both([&](Backend& k, std::size_t i) { k.spmm(*k.prepare(a), b[i], c[i]); });
        CHECK(c.difference() < pair.tolerance(5));
    });
}

TEST_CASE("kernel: sparse times dense from a matrix in device memory") {
    for_every_backend([](BackendPair& pair) {
        for (const auto& [name, a] : sparse_matrices()) {
            const TwinArray<std::int64_t> indptr(pair, a.indptr);
            const TwinArray<std::int32_t> indices(pair, a.indices);
            HostMatrix row(1, a.nonzeros());
            row.values = a.values;
            const Twin values(pair, row);
            for (const std::int64_t width : {1, 5, 16, 66}) {
                INFO(name << ", width " << width << ", " << pair.what);
                const Twin b(pair, random_matrix(a.cols, width, 1)),
                    c(pair, random_matrix(a.rows, width, 2), 1, 0);
                pair.both([&](Backend& k, std::size_t i) {
                    k.spmm(CsrView{indptr[i], indices[i], values[i].data, a.rows, a.cols, a.nonzeros()}, b[i],
                           c[i], {1, 1});
                });
                CHECK(c.difference() < pair.tolerance(1500));
            }
        }
    });
}

TEST_CASE("kernel: dense products of every transposition, of views inside wider matrices") {
    struct Shape {
        std::int64_t m, n, k;
    };
    for_every_backend([](BackendPair& pair) {
        int turn = 0;
        for (const Shape s : {Shape{1, 1, 1}, {5, 3, 7}, {17, 16, 33}, {64, 41, 20}, {3, 70, 130}, {40, 8, 0}})
            for (const Transpose ta : {Transpose::no, Transpose::yes})
                for (const Transpose tb : {Transpose::no, Transpose::yes}) {
                    const View at = turn++ % 2 == 0 ? View{0, 0} : View{3, 2};
                    INFO(s.m << " x " << s.n << " x " << s.k << (ta == Transpose::yes ? " T" : " N")
                             << (tb == Transpose::yes ? "T" : "N") << ", " << pair.what);
                    const Twin a(pair,
                                 ta == Transpose::no ? random_matrix(s.m, s.k, 1) : random_matrix(s.k, s.m, 1),
                                 at.first, at.beyond);
                    const Twin b(pair,
                                 tb == Transpose::no ? random_matrix(s.k, s.n, 2) : random_matrix(s.n, s.k, 2),
                                 at.first, at.beyond);
                    const Twin plain(pair, random_matrix(s.m, s.n, 3), at.first, at.beyond);
                    pair.both([&](Backend& k, std::size_t i) { k.gemm(ta, a[i], tb, b[i], plain[i]); });
                    CHECK(plain.difference() < pair.tolerance(s.k));
                    const Twin scaled(pair, random_matrix(s.m, s.n, 4), at.first, at.beyond);
                    const TwinEpilogue e(pair, s.m, s.n, Activation::relu, 0.3, 2);
                    pair.both([&](Backend& k, std::size_t i) {
                        k.gemm(ta, a[i], tb, b[i], scaled[i], {2, -0.5}, e[i]);
                    });
                    CHECK(scaled.difference() < pair.tolerance(s.k));
                }
    });
}

TEST_CASE("kernel: epilogues and their backward; what is dropped is the same to the bit") {
    for_every_backend([](BackendPair& pair) {
        int turn = 0;
        for (const std::int64_t cols : {1, 3, 4, 8, 41, 64, 150})
            for (const Activation act : {Activation::identity, Activation::relu, Activation::leaky_relu,
                                         Activation::sigmoid, Activation::elu})
                for (const double rate : {0.0, 0.5}) {
                    const std::int64_t rows = 19;
                    const auto first_column = static_cast<std::uint32_t>(turn % 6);
                    const View at = turn++ % 3 == 0 ? View{0, 0} : (turn % 3 == 1 ? View{4, 4} : View{1, 2});
                    INFO(cols << " columns from " << first_column << ", activation " << static_cast<int>(act)
                              << ", rate " << rate << ", " << pair.what);
                    const TwinEpilogue e(pair, rows, cols, act, rate, first_column);
                    const Twin z(pair, random_matrix(rows, cols, 1), at.first, at.beyond);
                    const Twin out(pair, random_matrix(rows, cols, 2), at.first, at.beyond);
                    pair.both([&](Backend& k, std::size_t i) { k.dropout(e[i], z[i], out[i]); });
                    CHECK(out.difference() < pair.tolerance());
                    pair.both([&](Backend& k, std::size_t i) { k.apply(e[i], z[i]); });
                    CHECK(z.difference() < pair.tolerance());
                    Epilogue backward[2] = {e[0], e[1]};
                    for (Epilogue& b : backward) b.bias = nullptr;
                    const Twin dh(pair, random_matrix(rows, cols, 3), at.first, at.beyond),
                        dz(pair, random_matrix(rows, cols, 4));
                    pair.both([&](Backend& k, std::size_t i) {
                        k.apply_backward(backward[i], z[i], dh[i], dz[i]);
                        k.apply_backward(backward[i], z[i], dh[i], z[i]);  // over h itself
                    });
                    CHECK(dz.difference() < pair.tolerance());
                    CHECK(z.difference() < pair.tolerance());
                }
        // Ones, dropped: exact in every type.
        HostMatrix ones(7, 53);
        std::fill(ones.values.begin(), ones.values.end(), 1.0);
        const Twin kept(pair, ones);
        const TwinEpilogue e(pair, 7, 53, Activation::identity, 0.5, 3);
        pair.both([&](Backend& k, std::size_t i) {
            Epilogue only = e[i];
            only.bias = nullptr;
            k.apply(only, kept[i]);
        });
        CHECK(kept.difference() == 0);
    });
}
