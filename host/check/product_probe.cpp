#include "check/product_probe.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/random.hpp>
#include <gnnbench/training/adjacency.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "check/bounds.hpp"
#include "check/host_copy.hpp"
#include "check/judge_dynamic_attention.hpp"

namespace gnnbench {
namespace {

constexpr std::int64_t signs = 8;

/// Uniform in [−1, 1), numbers of float32.
std::vector<float> random_values(std::int64_t count, RandomStream& draw) {
    std::vector<float> v(usize(count));
    for (float& x : v) x = static_cast<float>(draw()) * 0x1p-31f - 1;
    return v;
}

/// M·S [rows × 8] and the row sums of |M|.
struct Projected {
    std::vector<double> signed_sums, sizes;
};
Projected project(const auto& m, std::int64_t rows, const std::vector<std::uint32_t>& sign_of_column) {
    const auto width = static_cast<std::int64_t>(sign_of_column.size());
    Projected p{std::vector<double>(usize(rows * signs)), std::vector<double>(usize(rows))};
    for (std::int64_t r = 0; r < rows; ++r) {
        double* sums = p.signed_sums.data() + r * signs;
        for (std::int64_t c = 0; c < width; ++c) {
            const auto x = static_cast<double>(m[usize(r * width + c)]);
            p.sizes[usize(r)] += std::abs(x);
            for (std::int64_t s = 0; s < signs; ++s) sums[s] += (sign_of_column[usize(c)] >> s & 1u) != 0 ? x : -x;
        }
    }
    return p;
}

}  // namespace

/// A matrix, as it was given and as it was prepared.
struct ProductProbe::Kept {
    std::unique_ptr<PreparedMatrix> prepared;
    Csr csr, transpose;     ///< the latter where its products are wanted
    bool referred = false;  ///< its arrays may be others' by the time of the test
};

/// What a trainer owns of it, and may free before the test.
struct ProductProbe::Handle final : PreparedMatrix {
    std::shared_ptr<const Kept> kept;
};

std::unique_ptr<PreparedMatrix> ProductProbe::do_prepare(const Csr& a, TransposedProducts t) {
    auto kept = std::make_shared<Kept>(Kept{.prepared = inner().prepare(a, t), .csr = a, .transpose = {}});
    if (t == TransposedProducts::wanted) kept->transpose = transposed(a);
    auto handle = std::make_unique<Handle>();
    handle->format = kept->prepared->format;
    handle->kept = std::move(kept);
    return handle;
}

std::unique_ptr<PreparedMatrix> ProductProbe::do_refer(const CsrView& a) {
    auto handle = std::make_unique<Handle>();
    handle->kept =
        std::make_shared<Kept>(Kept{.prepared = inner().refer(a), .csr = {}, .transpose = {}, .referred = true});
    return handle;
}

void ProductProbe::perform(const verb::Spmm& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(verb::Spmm{*kept->prepared, v.b, v.c, v.s, v.e});
    note({kept, Product::spmm, v.c.cols, v.s.beta != 0});
}

void ProductProbe::perform(const verb::SpmmTransposed& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(verb::SpmmTransposed{*kept->prepared, v.b, v.c, v.s, v.e});
    note({kept, Product::by_transpose, v.c.cols, v.s.beta != 0});
}

void ProductProbe::perform(const verb::Attend& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(verb::Attend{*kept->prepared, v.shape, v.b, v.l, v.rows, v.stage});
    note({kept, Product::attention, v.b.cols, !v.stage.first, v.shape, v.stage.last, v.rows.slopes.cols > 0});
}

void ProductProbe::perform(const verb::AttendBackward& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(verb::AttendBackward{*kept->prepared, v.shape, v.b, v.own, v.c, v.stage});
    note({kept, Product::attention_backward, v.c.cols, !v.stage.first, v.shape});
}

void ProductProbe::perform(const verb::DynamicAttend& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(verb::DynamicAttend{*kept->prepared, v.shape, v.vector, v.b, v.s, v.rows, v.stage});
    note({kept, Product::dynamic, v.b.cols, !v.stage.first, v.shape, v.stage.last, false});
}

void ProductProbe::perform(const verb::DynamicBackward& v) {
    const auto& kept = static_cast<const Handle&>(v.a).kept;
    inner().run(
        verb::DynamicBackward{*kept->prepared, v.side, v.shape, v.vector, v.b, v.own, v.slopes, v.sums, v.stage});
    const Product walk = v.side == AttentionSide::rows ? Product::dynamic_of_rows : Product::dynamic_of_neighbours;
    note({kept, walk, v.slopes.cols, !v.stage.first, v.shape});
}

void ProductProbe::note(Use use) {
    if (use.matrix->referred) return;
    use.shape.dropout.epoch = use.shape.dropout.layer = 0;  // another mask is no other use
    if (std::ranges::find(used_, use) == used_.end()) used_.push_back(std::move(use));
}

void ProductProbe::test(Ledger& ledger, std::uint64_t seed) {
    for (const Use& use : used_) test(ledger, use, seed++);
}

void ProductProbe::test(Ledger& ledger, const Use& use, std::uint64_t seed) {
    if (use.product == Product::attention) return test_attention(ledger, use, seed);
    if (use.product == Product::attention_backward) return test_attention_backward(ledger, use, seed);
    if (use.product == Product::dynamic) return test_dynamic(ledger, use, seed);
    if (use.product == Product::dynamic_of_rows || use.product == Product::dynamic_of_neighbours)
        return test_dynamic_backward(ledger, use, seed);
    test_spmm(ledger, use, seed);
}

Matrix ProductProbe::random_matrix(std::int64_t rows, std::int64_t cols, RandomStream& draw) {
    Matrix m = inner().matrix(rows, cols);
    inner().upload(std::span<const float>(random_values(rows * cols, draw)), m);
    return m;
}

void ProductProbe::test_attention(Ledger& ledger, const Use& use, std::uint64_t seed) {
    const Csr& a = use.matrix->csr;
    const PreparedMatrix& prepared = *use.matrix->prepared;
    const std::int64_t heads = use.shape.heads, w = use.width - heads, sloped = use.sloped ? 1 : 0;
    RandomStream draw(seed, Draw::sample, 1);
    const Matrix b = random_matrix(a.cols, w + heads, draw), l = random_matrix(a.rows, heads, draw);
    const Matrix z = inner().matrix(a.rows, w), slopes = inner().matrix(a.rows, sloped * w),
                 maxima = inner().matrix(a.rows, heads), sums = inner().matrix(a.rows, heads),
                 slope_sums = inner().matrix(a.rows, sloped * heads);
    const AttentionRows rows{z, slopes, maxima, sums, slope_sums};
    // Of other rows, so that the largest score grows in some.
    if (use.adds)
        inner().attend(prepared, use.shape, random_matrix(a.cols, w + heads, draw), l, rows,
                       {.first = true, .last = false});
    const HostRows before = use.adds ? HostRows(inner(), rows) : HostRows();
    const verb::Attend v{prepared, use.shape, b, l, rows, {.first = !use.adds, .last = use.completes}};
    inner().run(v);
    const HostMatrix host_b = read_view(inner(), b), host_l = read_view(inner(), l);
    const HostRows after(inner(), rows);
    Judgement judgement(ledger, "probe", "attention, " + subject_of(v));
    judge_attention(judgement, v, a, {host_b, host_l, before, after, rounding_of(dtype())},
                    JudgedColumns::one_of_each_head);
}

void ProductProbe::test_attention_backward(Ledger& ledger, const Use& use, std::uint64_t seed) {
    const Csr& a = use.matrix->csr;
    const std::int64_t heads = use.shape.heads, w = use.width - heads;
    RandomStream draw(seed, Draw::sample, 1);
    const Matrix b = random_matrix(a.cols, w + 3 * heads, draw), own = random_matrix(a.rows, w + heads, draw),
                 c = random_matrix(a.rows, w + heads, draw);
    const HostMatrix host_b = read_view(inner(), b), host_own = read_view(inner(), own),
                     before = use.adds ? read_view(inner(), c) : HostMatrix();
    const verb::AttendBackward v{
        *use.matrix->prepared, use.shape, b, own, c, {.first = !use.adds, .last = use.completes}};
    inner().run(v);
    const HostMatrix after = read_view(inner(), c);
    Judgement judgement(ledger, "probe", "attention backward, " + subject_of(v));
    judge_attention_backward(judgement, v, a, {host_b, host_own, before, after, rounding_of(dtype())});
}

void ProductProbe::test_dynamic(Ledger& ledger, const Use& use, std::uint64_t seed) {
    const Csr& a = use.matrix->csr;
    const std::int64_t heads = use.shape.heads, w = use.width;
    RandomStream draw(seed, Draw::sample, 1);
    const Matrix vector = random_matrix(1, w, draw), b = random_matrix(a.cols, w, draw),
                 s = random_matrix(a.rows, w, draw);
    const Matrix z = inner().matrix(a.rows, w), maxima = inner().matrix(a.rows, heads),
                 sums = inner().matrix(a.rows, heads);
    const MatrixView none{nullptr, a.rows, 0, 0, dtype()};
    const AttentionRows rows{z, none, maxima, sums, none};
    // Of other rows, so that the largest score grows in some.
    if (use.adds)
        inner().dynamic_attend(*use.matrix->prepared, use.shape, vector, random_matrix(a.cols, w, draw), s, rows,
                               {.first = true, .last = false});
    const HostRows before = use.adds ? HostRows(inner(), rows) : HostRows();
    const verb::DynamicAttend v{
        *use.matrix->prepared, use.shape, vector, b, s, rows, {.first = !use.adds, .last = use.completes}};
    inner().run(v);
    const HostMatrix host_vector = read_view(inner(), vector), host_b = read_view(inner(), b),
                     host_s = read_view(inner(), s);
    const HostRows after(inner(), rows);
    Judgement judgement(ledger, "probe", "attention, " + subject_of(v));
    judge_dynamic(judgement, v, a, {host_vector, host_b, host_s, before, after, rounding_of(dtype())},
                  JudgedColumns::one_of_each_head);
}

void ProductProbe::test_dynamic_backward(Ledger& ledger, const Use& use, std::uint64_t seed) {
    const Csr& a = use.matrix->csr;
    const std::int64_t heads = use.shape.heads, w = use.width;
    const bool of_rows = use.product == Product::dynamic_of_rows;
    RandomStream draw(seed, Draw::sample, 1);
    const std::int64_t given = 2 * w + 2 * heads;
    const Matrix vector = random_matrix(1, w, draw), b = random_matrix(a.cols, of_rows ? w : given, draw),
                 own = random_matrix(a.rows, of_rows ? given : w, draw), slopes = random_matrix(a.rows, w, draw),
                 sums = random_matrix(a.rows, of_rows ? 0 : w, draw);
    const HostMatrix host_vector = read_view(inner(), vector), host_b = read_view(inner(), b),
                     host_own = read_view(inner(), own), slopes_before = read_view(inner(), slopes),
                     sums_before = read_view(inner(), sums);
    const verb::DynamicBackward v{*use.matrix->prepared,
                                  of_rows ? AttentionSide::rows : AttentionSide::neighbours,
                                  use.shape,
                                  vector,
                                  b,
                                  own,
                                  slopes,
                                  sums,
                                  {.first = !use.adds, .last = true}};
    inner().run(v);
    const HostMatrix slopes_after = read_view(inner(), slopes), sums_after = read_view(inner(), sums);
    Judgement judgement(ledger, "probe", "attention backward, " + subject_of(v));
    judge_dynamic_backward(judgement, v, a,
                           {host_vector, host_b, host_own, slopes_before, sums_before, slopes_after, sums_after,
                            rounding_of(dtype())});
}

void ProductProbe::test_spmm(Ledger& ledger, const Use& use, std::uint64_t seed) {
    const bool by_transpose = use.product == Product::by_transpose;
    const Csr& a = by_transpose ? use.matrix->transpose : use.matrix->csr;
    const std::int64_t width = use.width;
    const bool adds = use.adds;
    RandomStream draw(seed, Draw::sample, 1);
    const auto operand = random_values(a.cols * width, draw);
    const auto before = random_values(adds ? a.rows * width : 0, draw);
    std::vector<std::uint32_t> sign_of_column(usize(width));
    for (auto& s : sign_of_column) s = draw();

    const Matrix b = inner().matrix(a.cols, width), c = inner().matrix(a.rows, width);
    inner().upload(std::span<const float>(operand), b);
    if (adds) inner().upload(std::span<const float>(before), c);
    const Scale scale{1, adds ? 1.0 : 0.0};
    if (by_transpose)
        inner().spmm_transposed(*use.matrix->prepared, b, c, scale);
    else
        inner().spmm(*use.matrix->prepared, b, c, scale);
    const Projected product = project(read_view(inner(), c).values, a.rows, sign_of_column);
    const Projected right = project(operand, a.cols, sign_of_column);
    const Projected added = project(before, adds ? a.rows : 0, sign_of_column);

    const Rounding rounding = rounding_of(dtype());
    Judgement judgement(ledger, "probe",
                        fmt::format("{}{} [{}x{}] of {} nonzeros, width {}", use.matrix->prepared->format,
                                    by_transpose ? ", transposed," : "", a.rows, a.cols, a.nonzeros(), width));
    for (std::int64_t r = 0; r < a.rows; ++r) {
        const auto row = usize(r);
        double expected[signs] = {}, size = 0;
        const std::int64_t begin = a.indptr[row], end = a.indptr[row + 1];
        for (std::int64_t k = begin; k < end; ++k) {
            const double v = a.values[usize(k)];
            const auto column = usize(a.indices[usize(k)]);
            size += std::abs(v) * right.sizes[column];
            for (std::size_t s = 0; s < signs; ++s) expected[s] += v * right.signed_sums[column * signs + s];
        }
        if (adds) size += added.sizes[row];
        const double roundings = static_cast<double>(end - begin + width + 1 + (adds ? 1 : 0));
        const double bound = rounding.gamma(roundings) * size + roundings * rounding.smallest;
        for (std::size_t s = 0; s < signs; ++s)
            judgement.near(r, static_cast<std::int64_t>(s), product.signed_sums[row * signs + s],
                           expected[s] + (adds ? added.signed_sums[row * signs + s] : 0), bound);
    }
}

}  // namespace gnnbench
