#include <gnnbench/simulation/expected_graph.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/sparsity.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

double as_real(std::int64_t x) { return static_cast<double>(x); }

/// n (n − 1) … (n − k + 1)
double falling(double n, int k) {
    double product = 1;
    for (int i = 0; i < k; ++i) product *= n - i;
    return product;
}

/// The probability that none of d different vertices among `others` is one of `few`: C(others − few, d) ÷ C(others, d).
/// The product has d factors 1 − few ÷ (others − k), k = 0 … d − 1; that of the middle k stands for all.
double none_among(double few, double others, double d) {
    if (few + d > others) return 0;
    return std::exp(d * std::log1p(-few / (others - (d - 1) / 2)));
}

}  // namespace

ExpectedGraph::ExpectedGraph(GraphOutline outline) : outline_(std::move(outline)), n_(as_real(outline_.vertices)) {
    for (const auto& [degree, share] : outline_.degrees) {
        mean_degree_ += share * as_real(degree);
        mean_square_ += share * as_real(degree) * as_real(degree);
    }
}

Expectation ExpectedGraph::nonzeros(const ExpectedRun& rows, const ExpectedRun& columns, bool loops) const {
    const auto row_order = sized_order(rows.order), column_order = sized_order(columns.order);
    require(row_order != nullptr && column_order != nullptr, "expected blocks need expected orders");
    const bool aligned = row_order == column_order;
    const std::int64_t common =
        aligned ? std::max<std::int64_t>(0, std::min(rows.end, columns.end) - std::max(rows.first, columns.first))
                : 0;
    Expectation e;
    if (!aligned)
        e = unaligned_nonzeros(rows.size(), columns.size());
    else if (outline_.locality && row_order->parts.size() > 2) {
        e.mean = local_nonzeros(rows, columns, row_order->parts);
        e.sd = std::sqrt(e.mean);
    } else if (common > 0 && (common < rows.size() || common < columns.size())) {
        // Runs that overlap in part: neither the formula of one set nor that of two.
        const double p = as_real(rows.size()) * as_real(columns.size()) / (n_ * n_);
        e.mean = entries() * p;
        e.sd = std::sqrt(e.mean);
    } else
        e = aligned_nonzeros(rows.size(), columns.size(), common > 0);
    if (loops) e.mean += aligned ? as_real(common) : as_real(rows.size()) * as_real(columns.size()) / n_;
    return e;
}

/// Parts of these sizes among n vertices, chosen at random. m edges; p: the probability that both ends of one lie in the
/// block, in either direction. Pairs of edges that share a vertex, A = n·E[d (d − 1)] ÷ 2 of them, and pairs that don't have
/// each their probability of lying in the block together, so the variance is exact for a graph with these degrees.
Expectation ExpectedGraph::aligned_nonzeros(std::int64_t rows, std::int64_t columns, bool same) const {
    if (n_ < 4) return {.mean = entries() * as_real(rows) * as_real(columns) / (n_ * n_), .sd = 0};
    const double r = as_real(rows), c = as_real(columns), m = entries() / 2;
    double p = 0, together = 0, apart = 0, entries_of_edge = 1;
    if (same) {
        p = falling(r, 2) / falling(n_, 2);
        together = falling(r, 3) / falling(n_, 3);
        apart = falling(r, 4) / falling(n_, 4);
        entries_of_edge = 2;
    } else {
        p = 2 * r * c / falling(n_, 2);
        together = (r * falling(c, 2) + c * falling(r, 2)) / falling(n_, 3);
        apart = 4 * falling(r, 2) * falling(c, 2) / falling(n_, 4);
    }
    const double adjacent = n_ * (mean_square_ - mean_degree_) / 2, disjoint = m * (m - 1) / 2 - adjacent;
    const double variance =
        m * p * (1 - p) + 2 * adjacent * (together - p * p) + 2 * std::max(0.0, disjoint) * (apart - p * p);
    return {.mean = entries_of_edge * m * p, .sd = entries_of_edge * std::sqrt(std::max(0.0, variance))};
}

/// Rows and columns permuted apart: every entry by itself lies in the block with p = rows·columns ÷ n².
Expectation ExpectedGraph::unaligned_nonzeros(std::int64_t rows, std::int64_t columns) const {
    if (n_ < 2) return {.mean = entries() * as_real(rows) * as_real(columns), .sd = 0};
    const double r = as_real(rows), c = as_real(columns), z = entries(), p = r * c / (n_ * n_);
    const double in_a_line = n_ * (mean_square_ - mean_degree_) / 2;  // pairs in one row; as many in one column
    const double one_row = r / n_ * falling(c, 2) / falling(n_, 2),
                 one_column = c / n_ * falling(r, 2) / falling(n_, 2);
    const double neither = falling(r, 2) * falling(c, 2) / (falling(n_, 2) * falling(n_, 2));
    const double pairs = z * (z - 1) / 2 - 2 * in_a_line;
    const double variance = z * p * (1 - p) + 2 * in_a_line * (one_row + one_column - 2 * p * p) +
                            2 * std::max(0.0, pairs) * (neither - p * p);
    return {.mean = z * p, .sd = std::sqrt(std::max(0.0, variance))};
}

namespace {

/// Calls for each part with positions in [first, end): the part, how many there are, and the part's size.
template <class Each>
void for_each_part(const std::vector<std::int64_t>& parts, std::int64_t first, std::int64_t end, Each&& each) {
    for (std::int64_t at = first; at < end;) {
        const auto next = std::ranges::upper_bound(parts, at);
        const std::int64_t until = std::min(end, *next);
        each(static_cast<Part>(next - parts.begin() - 1), until - at, *next - *(next - 1));
        at = until;
    }
}

/// Σ over blocks of parts of their entries, times the shares of their rows and of their columns that lie here.
double uneven_nonzeros(const UnevenParts& uneven, const ExpectedRun& rows, const ExpectedRun& columns,
                       const std::vector<std::int64_t>& parts) {
    double sum = 0;
    for_each_part(parts, rows.first, rows.end, [&](Part p, std::int64_t here, std::int64_t of_rows) {
        for_each_part(parts, columns.first, columns.end, [&](Part q, std::int64_t there, std::int64_t of_columns) {
            sum += uneven.entries(p, q) * as_real(here) / as_real(of_rows) * as_real(there) / as_real(of_columns);
        });
    });
    return sum;
}

}  // namespace

/// Σ over parts of their rows here, times the share of a row's entries that lies in these columns: `inside` of them in
/// the part itself, the rest among all other vertices.
double ExpectedGraph::local_nonzeros(const ExpectedRun& rows, const ExpectedRun& columns,
                                     const std::vector<std::int64_t>& parts) const {
    if (const auto& uneven = outline_.locality->uneven) return uneven_nonzeros(*uneven, rows, columns, parts);
    double sum = 0;
    for_each_part(parts, rows.first, rows.end, [&](Part p, std::int64_t here, std::int64_t of_part) {
        const std::int64_t begin = parts[usize(p)], end = parts[usize(p) + 1];
        const double own =
            as_real(std::max<std::int64_t>(0, std::min(columns.end, end) - std::max(columns.first, begin)));
        const double others = as_real(columns.size()) - own, size = as_real(of_part);
        double share = outline_.locality->inside * own / size;
        if (size < n_) share += (1 - outline_.locality->inside) * others / (n_ - size);
        sum += as_real(here) * mean_degree_ * share;
    });
    return sum;
}

Expectation ExpectedGraph::needed(const IndexMap& parts, Part i, Part j, bool loops) const {
    if (i == j && loops) return {.mean = as_real(parts.size(i)), .sd = 0};
    if (i == j) return inner_rows(i, parts.size(i));
    if (outline_.locality && outline_.locality->uneven) {
        const double rows = outline_.locality->uneven->needed(i, j);
        return {.mean = rows, .sd = std::sqrt(rows)};
    }
    const std::int64_t n_i = parts.size(i), n_j = parts.size(j);
    const auto [known, isnew] = needed_.try_emplace({n_i, n_j});
    if (isnew) known->second = needed_of(n_i, n_j);
    return known->second;
}

/// Nobody sends these: only that there are entries matters.
Expectation ExpectedGraph::inner_rows(Part i, std::int64_t rows) const {
    double inside = as_real(rows) / n_,
           density = 1;  // the latter: entries of a row ÷ those of the graph's mean row
    if (outline_.locality) inside = outline_.locality->inside;
    if (outline_.locality && outline_.locality->uneven) {
        const double of_part = outline_.locality->uneven->entries_of(i);
        inside = of_part > 0 ? outline_.locality->uneven->entries(i, i) / of_part : 0;
        density = rows > 0 ? of_part / as_real(rows) / mean_degree_ : 1;
    }
    double some = 0;
    for (const auto& [degree, share] : outline_.degrees)
        some += share * (1 - std::pow(1 - inside, as_real(degree) * density));
    return {.mean = as_real(rows) * some, .sd = std::sqrt(as_real(rows) * some * (1 - some))};
}

/// A column of degree d has no entry in the n_i rows with probability miss(d); s is the mean of miss over the ends of
/// edges. The variance has two parts: which columns are hit, as if each by itself; and that the degrees in part i add up
/// to more or less, which all columns notice.
Expectation ExpectedGraph::needed_of(std::int64_t n_i, std::int64_t n_j) const {
    const auto& locality = outline_.locality;
    const double i = as_real(n_i), j = as_real(n_j);
    if (locality && locality->halo) {
        const double rows = std::min(j, *locality->halo * j * i / (n_ - j));
        return {.mean = rows, .sd = std::sqrt(rows)};
    }
    const double q = locality ? std::min(1.0, (1 - locality->inside) * i / (n_ - j)) : i / n_;
    double hit = 0, decisive = 0;
    for (const auto& [degree, share] : outline_.degrees) {
        const double d = as_real(degree);
        const double miss = locality ? std::pow(1 - q, d) : none_among(i, n_ - 1, d);
        hit += share * (1 - miss);
        decisive += share * d * miss;
    }
    const double s = mean_degree_ > 0 ? decisive / mean_degree_ : 0,
                 spread = mean_square_ - mean_degree_ * mean_degree_;
    const double of_degrees = j / n_ * j * q * (1 - i / n_) * spread * s * s;
    return {.mean = j * hit, .sd = std::sqrt(j * hit * (1 - hit) + std::max(0.0, of_degrees))};
}

std::int64_t ExpectedGraph::rounded(double expected, std::int64_t i, std::int64_t j) {
    // The fraction is added up over (i, j) by the golden ratio's multiples, which fill [0, 1) evenly.
    const double whole = std::floor(expected);
    const auto number = static_cast<std::uint64_t>(std::min(i, j)) * 0x9E3779B97F4A7C15u +
                        static_cast<std::uint64_t>(std::max(i, j)) * 0xD1B54A32D192ED03u;
    const double threshold = std::ldexp(static_cast<double>(number >> 11), -53);
    return static_cast<std::int64_t>(whole) + (expected - whole > threshold ? 1 : 0);
}

namespace {

/// Expectations as whole numbers.
class ExpectedCounts final : public SparsityCounts {
public:
    explicit ExpectedCounts(std::shared_ptr<const ExpectedGraph> graph) : graph_(std::move(graph)) {}

    bool has_entries() const override { return false; }

    std::vector<std::int64_t> of_blocks(const Adjacency& a, const CutOrder& rows,
                                        const CutOrder& columns) const override {
        const bool loops = has_loops(a);
        const std::int64_t row_runs = runs(rows), column_runs = runs(columns);
        std::vector<std::int64_t> nonzeros;
        nonzeros.reserve(usize(row_runs * column_runs));
        for (std::int64_t r = 0; r < row_runs; ++r)
            for (std::int64_t c = 0; c < column_runs; ++c)
                nonzeros.push_back(ExpectedGraph::rounded(
                    graph_->nonzeros(run_of(rows, r), run_of(columns, c), loops).mean, r, c));
        return nonzeros;
    }

    /// The matrix is symmetric, so nonzero rows of a block are nonzero columns of its transpose, in either direction.
    LineCounts of_line(const Adjacency& a, const IndexMap& index, Part part, Direction) const override {
        const bool loops = has_loops(a);
        LineCounts n;
        for (Part j = 0; j < index.parts(); ++j) {
            n.columns.push_back(ExpectedGraph::rounded(graph_->needed(index, part, j, loops).mean, part, j));
            n.rows.push_back(ExpectedGraph::rounded(graph_->needed(index, j, part, loops).mean, part, j));
        }
        return n;
    }

private:
    /// Whether Â has a diagonal beside the graph's edges, of which none is a loop.
    bool has_loops(const Adjacency& a) const {
        return as_real(a.nonzeros()) > graph_->entries() + 0.5 * as_real(a.vertices());
    }
    static std::int64_t runs(const CutOrder& order) { return std::int64_t{order.index.parts()} * order.runs; }
    static ExpectedRun run_of(const CutOrder& order, std::int64_t number) {
        const auto part = static_cast<Part>(number / order.runs);
        const auto run = static_cast<int>(number % order.runs);
        const std::int64_t begin = order.index.offset(part), size = order.index.size(part);
        const std::int64_t first = begin + block_begin(size, order.runs, run);
        return {order.index, first, first + block_size(size, order.runs, run)};
    }

    std::shared_ptr<const ExpectedGraph> graph_;
};

}  // namespace

void share_expected_graph(SharedSetup& shared, std::shared_ptr<const ExpectedGraph> graph) {
    shared.of<KnownSparsity>().counts = std::make_shared<const ExpectedCounts>(std::move(graph));
}

}  // namespace gnnbench
