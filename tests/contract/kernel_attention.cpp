// Every back end against `reference`: attention, and what is computed head by head.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include <gnnbench/training/adjacency.hpp>

#include "contract/backend_pair.hpp"

using namespace gnnbench;
using namespace gnnbench::contract;

namespace {

struct Shape {
    std::int64_t heads, width;  ///< of all heads together
};
constexpr Shape shapes[] = {{1, 1},  {1, 7},  {1, 64}, {2, 6},   {3, 21},  {4, 4},
                            {4, 64}, {5, 40}, {8, 64}, {8, 128}, {12, 36}, {16, 256}};

/// Scores up to twice the spread, and the share of coefficients that is dropped.
struct Scores {
    double spread, rate;
};
constexpr Scores near_far_dropped[] = {{1, 0}, {30, 0}, {1, 0.5}};

/// Those that the shape of this number meets: all, or on the emulator in CI one, in float64 the next one.
std::span<const Scores> scores_of(const BackendPair& pair, std::size_t shape, std::span<const Scores> all) {
    if (!few_cases()) return all;
    return all.subspan((shape + (pair.f32() ? 0U : 1U)) % all.size(), 1);
}

/// Rows of many lengths, some empty, one longer than any chunk; weights in [½, 1½).
Csr matrix(std::int64_t rows, std::int64_t cols) {
    Csr a;
    a.rows = rows;
    a.cols = cols;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t n = r == 5 ? cols : r % 7 == 3 ? 0 : 1 + r % 11;
        for (std::int64_t c = 0; c < cols; ++c)
            if (n == cols || (c * 31 + r * 17) % cols < n) {
                a.indices.push_back(static_cast<std::int32_t>(c));
                a.values.push_back(1 + 0.5 * noise(4, r, c));
            }
        a.indptr.push_back(std::ssize(a.indices));
        a.row_vertices.push_back(GlobalId{1000 + 3 * r});
    }
    for (std::int64_t c = 0; c < cols; ++c) a.col_vertices.push_back(GlobalId{7 * c});
    return a;
}

AttentionHeads heads_of(Shape s, double rate) {
    return {.heads = static_cast<int>(s.heads),
            .slope = 0.2,
            .dropout = {.rate = rate, .seed = 9, .layer = 2, .epoch = 3}};
}

/// Columns [first, end) of a, numbered from 0.
Csr columns(const Csr& a, std::int64_t first, std::int64_t end) {
    Csr part;
    part.rows = a.rows;
    part.cols = end - first;
    part.row_vertices = a.row_vertices;
    part.col_vertices.assign(a.col_vertices.begin() + first, a.col_vertices.begin() + end);
    for (std::size_t r = 0; r + 1 < a.indptr.size(); ++r) {
        for (auto k = static_cast<std::size_t>(a.indptr[r]); k < static_cast<std::size_t>(a.indptr[r + 1]); ++k)
            if (a.indices[k] >= first && a.indices[k] < end) {
                part.indices.push_back(static_cast<std::int32_t>(a.indices[k] - first));
                part.values.push_back(a.values[k]);
            }
        part.indptr.push_back(std::ssize(part.indices));
    }
    return part;
}

HostMatrix scaled(HostMatrix m, std::int64_t first, double factor) {
    for (std::int64_t r = 0; r < m.rows; ++r)
        for (std::int64_t c = first; c < m.cols; ++c) m(r, c) *= factor;
    return m;
}

/// What a forward pass writes, on both back ends.
struct TwinRows {
    TwinRows(BackendPair& pair, std::int64_t rows, Shape s)
        : z(pair, nothing(rows, s.width), 1, 2),
          slopes(pair, nothing(rows, s.width)),
          maxima(pair, nothing(rows, s.heads)),
          sums(pair, nothing(rows, s.heads), 0, 1),
          slope_sums(pair, nothing(rows, s.heads)) {}
    static HostMatrix nothing(std::int64_t rows, std::int64_t cols) {
        HostMatrix m(rows, cols);
        std::fill(m.values.begin(), m.values.end(), NAN);
        return m;
    }
    AttentionRows operator[](std::size_t i) const { return {z[i], slopes[i], maxima[i], sums[i], slope_sums[i]}; }
    double difference() const { return std::max({z.difference(), slopes.difference(), maxima.difference()}); }
    Twin z, slopes, maxima, sums, slope_sums;
};

/// Forward, in one stage and in two, with scores near each other and far apart.
void compare_forward(BackendPair& pair, Shape s, const Csr& a, std::span<const Scores> all = near_far_dropped) {
    const std::int64_t cut = a.cols * 7 / 15, rest = a.cols - cut;
    const Csr halves[] = {columns(a, 0, cut), columns(a, cut, a.cols)};
    for (const auto& [spread, rate] : all) {
        INFO(s.heads << " heads, width " << s.width << ", scores up to " << 2 * spread << ", dropout " << rate
                     << ", " << pair.what);
        const AttentionHeads heads = heads_of(s, rate);
        const Twin l(pair, scaled(random_matrix(a.rows, s.heads, 1), 0, spread));
        const HostMatrix operand = scaled(random_matrix(a.cols, s.width + s.heads, 2), s.width, spread);
        const Twin b(pair, operand, 0, 3);
        const TwinRows whole(pair, a.rows, s), staged(pair, a.rows, s), evaluated(pair, a.rows, s);
        pair.both([&](Backend& k, std::size_t i) {
            const auto prepared = k.prepare(a);
            k.attend(*prepared, heads, b[i], l[i], whole[i], {});
            AttentionRows no_slopes = evaluated[i];
            no_slopes.slopes.cols = no_slopes.slope_sums.cols = 0;
            k.attend(*prepared, heads, b[i], l[i], no_slopes, {});
            std::unique_ptr<PreparedMatrix> parts[] = {k.prepare(halves[0]), k.prepare(halves[1])};
            k.attend(*parts[0], heads, b[i].rows_from(0, cut), l[i], staged[i], {.first = true, .last = false});
            k.attend(*parts[1], heads, b[i].rows_from(cut, rest), l[i], staged[i], {.first = false, .last = true});
            k.synchronize(StreamRole::compute);
        });
        // An exponential's argument of so many rounds by as much.
        const double allowed = pair.tolerance(a.cols) * (1 + spread) / (1 - rate);
        CHECK(whole.difference() < allowed);
        CHECK(staged.difference() < allowed);
        CHECK(evaluated.z.difference() < allowed);
        const HostMatrix once = pair.tested->download(whole.slopes[0]),
                         twice = pair.tested->download(staged.slopes[0]);
        for (std::size_t at = 0; at < once.values.size(); ++at)
            REQUIRE(std::abs(once.values[at] - twice.values[at]) < allowed);
    }
}

/// Backward likewise; `back` is a transposed matrix.
void compare_backward(BackendPair& pair, Shape s, const Csr& back, double spread, double rate) {
    INFO(s.heads << " heads, width " << s.width << ", scores up to " << 2 * spread << ", dropout " << rate << ", "
                 << pair.what);
    const Csr a = transposed(back);
    const std::int64_t cut = back.cols * 17 / 40, rest = back.cols - cut;
    const Csr halves[] = {columns(back, 0, cut), columns(back, cut, back.cols)};
    const AttentionHeads heads = heads_of(s, rate);
    const Twin l(pair, scaled(random_matrix(a.rows, s.heads, 1), 0, spread));
    const Twin own(pair, scaled(random_matrix(a.cols, s.width + s.heads, 2), s.width, spread));
    // G, l, log Σ, D.
    const Twin b(pair, random_matrix(a.rows, s.width + 3 * s.heads, 3));
    const TwinRows rows(pair, a.rows, s);
    const Twin whole(pair, TwinRows::nothing(a.cols, s.width + s.heads), 1, 0),
        staged(pair, TwinRows::nothing(a.cols, s.width + s.heads));
    pair.both([&](Backend& k, std::size_t i) {
        const auto forward = k.prepare(a), prepared = k.prepare(back);
        k.attend(*forward, heads, own[i], l[i], rows[i], {});
        k.copy(l[i], b[i].cols_from(s.width, s.heads));
        k.copy(rows.maxima[i], b[i].cols_from(s.width + s.heads, s.heads));
        k.attend_backward(*prepared, heads, b[i], own[i], whole[i], {});
        std::unique_ptr<PreparedMatrix> parts[] = {k.prepare(halves[0]), k.prepare(halves[1])};
        k.attend_backward(*parts[0], heads, b[i].rows_from(0, cut), own[i], staged[i],
                          {.first = true, .last = false});
        k.attend_backward(*parts[1], heads, b[i].rows_from(cut, rest), own[i], staged[i],
                          {.first = false, .last = true});
        k.synchronize(StreamRole::compute);
    });
    const double allowed = pair.tolerance(std::max(a.rows, a.cols)) * (1 + spread) / (1 - rate);
    CHECK(whole.difference() < allowed);
    CHECK(staged.difference() < allowed);
}

/// Dynamic attention, and both walks of its backward pass, likewise.
void compare_dynamic(BackendPair& pair, Shape s, const Csr& a, double rate) {
    const Csr back = transposed(a);
    const std::int64_t cut = a.cols * 7 / 15, back_cut = a.rows * 17 / 40;
    const Csr forward_halves[] = {columns(a, 0, cut), columns(a, cut, a.cols)},
              back_halves[] = {columns(back, 0, back_cut), columns(back, back_cut, a.rows)};
    INFO(s.heads << " heads, width " << s.width << ", dropout " << rate << ", " << pair.what);
    const AttentionHeads heads = heads_of(s, rate);
    const std::int64_t w = s.width, h = s.heads;
    const Twin vector(pair, random_matrix(1, w, 1)), t(pair, random_matrix(a.cols, w, 2)),
        given(pair, random_matrix(a.rows, 2 * w + 2 * h, 3));
    const TwinRows whole(pair, a.rows, s), staged(pair, a.rows, s);
    const auto nothing = [&](std::int64_t rows) { return Twin(pair, TwinRows::nothing(rows, w)); };
    const Twin u = nothing(a.rows), u_staged = nothing(a.rows), v = nothing(a.cols), v_staged = nothing(a.cols),
               sums = nothing(a.cols), sums_staged = nothing(a.cols);
    const Stage first{.first = true, .last = false}, last{.first = false, .last = true};
    pair.both([&](Backend& k, std::size_t i) {
        const auto rows_of = [&](const TwinRows& rows) {
            AttentionRows all = rows[i];
            all.slopes = all.slope_sums = {nullptr, a.rows, 0, 0, all.z.dtype};
            return all;
        };
        const MatrixView s_i = given[i].cols_from(w, w);
        const std::unique_ptr<PreparedMatrix> forward = k.prepare(a), backward = k.prepare(back),
                                              half_a = k.prepare(forward_halves[0]),
                                              half_b = k.prepare(forward_halves[1]),
                                              back_a = k.prepare(back_halves[0]),
                                              back_b = k.prepare(back_halves[1]);
        const MatrixView t_a = t[i].rows_from(0, cut), t_b = t[i].rows_from(cut, a.cols - cut);
        k.dynamic_attend(*forward, heads, vector[i], t[i], s_i, rows_of(whole), {});
        k.dynamic_attend(*half_a, heads, vector[i], t_a, s_i, rows_of(staged), first);
        k.dynamic_attend(*half_b, heads, vector[i], t_b, s_i, rows_of(staged), last);
        k.copy(whole.maxima[i], given[i].cols_from(2 * w, h));
        k.dynamic_backward_rows(*forward, heads, vector[i], t[i], given[i], u[i], {});
        k.dynamic_backward_rows(*half_a, heads, vector[i], t_a, given[i], u_staged[i], first);
        k.dynamic_backward_rows(*half_b, heads, vector[i], t_b, given[i], u_staged[i], last);
        k.dynamic_backward_neighbours(*backward, heads, vector[i], given[i], t[i], v[i], sums[i], {});
        k.dynamic_backward_neighbours(*back_a, heads, vector[i], given[i].rows_from(0, back_cut), t[i],
                                      v_staged[i], sums_staged[i], first);
        k.dynamic_backward_neighbours(*back_b, heads, vector[i], given[i].rows_from(back_cut, a.rows - back_cut),
                                      t[i], v_staged[i], sums_staged[i], last);
        k.synchronize(StreamRole::compute);
    });
    // Scores are sums of as many terms as a head has columns.
    const double allowed = pair.tolerance(a.cols + 4 * w / h) / (1 - rate);
    CHECK(whole.z.difference() < allowed);
    CHECK(staged.z.difference() < allowed);
    CHECK(whole.maxima.difference() < allowed);
    CHECK(staged.maxima.difference() < allowed);
    for (const Twin* found : {&u, &u_staged, &v, &v_staged, &sums, &sums_staged})
        CHECK(found->difference() < allowed);
}

}  // namespace

TEST_CASE("kernel: attention in one stage and in two, with scores near each other and far apart") {
    for_every_backend(
        [](BackendPair& pair) {
            const Csr a = matrix(40, 150);
            for (std::size_t k = 0; k < std::size(shapes); ++k)
                compare_forward(pair, shapes[k], a, scores_of(pair, k, near_far_dropped));
        },
        16);
}

TEST_CASE("kernel: attention's backward pass, in one stage and in two") {
    for_every_backend(
        [](BackendPair& pair) {
            const Csr back = transposed(matrix(40, 150));
            const Scores all[] = {{1, 0.5}, {1, 0}, {30, 0}};
            for (std::size_t k = 0; k < std::size(shapes); ++k) {
                const auto some = std::span(all).first(shapes[k].width <= 64 ? 3U : 1U);
                for (const Scores& with : scores_of(pair, k, some))
                    compare_backward(pair, shapes[k], back, with.spread, with.rate);
            }
        },
        16);
}

TEST_CASE("kernel: dynamic attention, and both walks of its backward pass, in one stage and in two") {
    for_every_backend(
        [](BackendPair& pair) {
            const Csr a = matrix(40, 150);
            const Scores all[] = {{1, 0.5}, {1, 0}};
            for (std::size_t k = 0; k < std::size(shapes); ++k) {
                const auto some = std::span(all).first(shapes[k].width <= 40 ? 2U : 1U);
                for (const Scores& with : scores_of(pair, k, some)) compare_dynamic(pair, shapes[k], a, with.rate);
            }
        },
        16);
}

TEST_CASE("kernel: attention in every format, over several tiles of columns") {
    for_every_choice(
        [](BackendPair& pair) {
            const Csr wide = matrix(12, 1700), square = matrix(90, 90);
            if (pair.takes_next()) compare_forward(pair, {8, 40}, wide);
            if (pair.takes_next()) compare_backward(pair, {8, 40}, wide, 1, 0.5);
            if (pair.takes_next()) compare_backward(pair, {1, 150}, wide, 30, 0);
            if (pair.takes_next()) compare_dynamic(pair, {8, 40}, wide, 0.5);
            if (pair.takes_next()) compare_dynamic(pair, {3, 21}, wide, 0);
            // That alone has an order of clusters.
            if (pair.takes_next()) compare_forward(pair, {4, 24}, square);
            if (pair.takes_next()) compare_backward(pair, {4, 24}, square, 1, 0);
            if (pair.takes_next()) compare_dynamic(pair, {4, 24}, square, 0);
        },
        16);
}

TEST_CASE("kernel: dots, sums, multiples, means of heads") {
    for_every_backend([](BackendPair& pair) {
        for (const Shape s : shapes)
            for (const std::int64_t rows : {0, 1, 37, 5000}) {
                if (rows == 5000 && s.width > 64) continue;
                INFO(s.heads << " heads, width " << s.width << ", " << rows << " rows, " << pair.what);
                const Twin x(pair, random_matrix(rows, s.width, 1), 1, 1),
                    y(pair, random_matrix(rows, s.width, 2)), one(pair, random_matrix(1, s.width, 3)),
                    factors(pair, random_matrix(rows, s.heads, 4), 0, 2);
                const Twin dots(pair, TwinRows::nothing(rows, s.heads)),
                    with_one(pair, TwinRows::nothing(rows, s.heads)), sums(pair, TwinRows::nothing(1, s.width)),
                    added(pair, random_matrix(rows, s.width, 5), 2, 0),
                    mean(pair, TwinRows::nothing(rows, s.width / s.heads)),
                    spread(pair, TwinRows::nothing(rows, s.width));
                HostMatrix from = random_matrix(rows, s.heads, 6);
                for (std::int64_t r = 0; r < rows; r += 3)
                    from(r, r % s.heads) = -std::numeric_limits<double>::infinity();
                const Twin before(pair, from, 0, 1), after(pair, random_matrix(rows, s.heads, 7)),
                    rescaled(pair, random_matrix(rows, s.width, 8), 1, 0);
                pair.both([&](Backend& k, std::size_t i) {
                    k.head_dots(x[i], y[i], dots[i]);
                    k.head_dots(x[i], one[i], with_one[i]);
                    k.head_sums(factors[i], x[i], sums[i]);
                    k.add_heads(factors[i], one[i], added[i]);
                    k.mean_of_heads(x[i], mean[i]);
                    k.spread_to_heads(mean[i], spread[i]);
                    k.rescale_heads(before[i], after[i], rescaled[i]);
                });
                CHECK(dots.difference() < pair.tolerance(s.width));
                CHECK(with_one.difference() < pair.tolerance(s.width));
                CHECK(sums.difference() < pair.tolerance(rows + 1));
                CHECK(added.difference() < pair.tolerance());
                CHECK(mean.difference() < pair.tolerance());
                CHECK(spread.difference() < pair.tolerance());
                CHECK(rescaled.difference() < pair.tolerance(20));
            }
    });
}
