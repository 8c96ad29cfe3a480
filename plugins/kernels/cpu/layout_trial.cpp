#include "layout_trial.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include <gnnbench/usize.hpp>

#include "limits.hpp"
#include "panels.hpp"
#include "reordered.hpp"
#include "row_sample.hpp"
#include "stored_rows.hpp"
#include "threads.hpp"

namespace gnnbench::cpu {
namespace {

/// One in this many chunks of tiles is in the sample, but at least one for each thread.
constexpr std::int64_t one_chunk_in = 24;
/// Where rows are the candidates, the sample is this many runs of them, together one row in so many.
constexpr std::int64_t runs_of_rows = 64, one_row_in = 72;
/// Tiles are timed on one stretch of columns in this many.
constexpr std::int64_t one_stretch_in = 3;
/// Candidates within this factor of the fastest in the first turn have a second one.
constexpr double near_best = 1.4;
/// Where tiles of one width take this many times as long as rows, other widths are not tried: among widths whose panel
/// takes half to all of the cache, the slowest took less than 1.2 times as long as the best (results/cpu-formats.md).
constexpr double abandon_tiles_ratio = 1.5;
/// Tiles that take less than this share of the time of rows leave nothing for clusters to gain.
constexpr double far_below_rows = 0.6;

/// Processor time, since preparing may share its cores with other ranks or other work.
double processor_s() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A part of a product, and how often the whole one does it.
struct Part {
    std::function<void()> run;
    double times;
    double least_s = std::numeric_limits<double>::infinity();
};

/// Candidates may share a part, which is then timed once.
struct Candidate {
    Layout layout;
    std::vector<std::shared_ptr<Part>> parts;
};

/// Candidates of one matrix on a sample of its rows. B and C contain constants: a product takes no longer or shorter
/// for what is in them.
class Trial {
public:
    Trial(const Csr& a, const std::vector<TrialPanels>& panels, int threads)
        : a_(a),
          panels_(panels),
          threads_(threads),
          columns_(columns_by_count(a, threads)),
          b_(filled(a.cols * panels.front().width)),
          packed_(filled(packed_rows() * panels.front().width)),
          workspace_(threads) {
        add_rows();
        add_tiles();
    }

    void try_clusters(const ClusterOrder& order) {
        const RowSample sample =
            sample_positions(a_, order.vertex_at, std::int64_t{16} * threads_, a_.rows / one_chunk_in, threads_);
        const auto rows = std::make_shared<StoredRows<float>>(sample.rows, threads_);
        const auto vertex_at = std::make_shared<std::vector<std::int32_t>>(order.vertex_at);
        Candidate& clusters = candidates_.emplace_back(Candidate{{Format::reordered}, {}});
        for (const TrialPanels& p : panels_) {
            const auto work = operands(p, sample.rows.rows);
            clusters.parts.push_back(packing(vertex_at->data(), vertex_at, work));
            clusters.parts.push_back(part(sample.times * work->count, [this, rows, work] {
                multiply_packed<float>(rows->csr, nullptr, b_.data(), work->side, work->panel, threads_,
                                       workspace_);
            }));
        }
        time_from(candidates_.size() - 1);
    }

    double seconds(Layout l) const {
        const auto t = std::ranges::find(times_, l, &LayoutTime::layout);
        return t == times_.end() ? std::numeric_limits<double>::infinity() : t->seconds;
    }
    double fastest(Format f) const {
        double least = std::numeric_limits<double>::infinity();
        for (const LayoutTime& t : times_)
            if (t.layout.format == f) least = std::min(least, t.seconds);
        return least;
    }
    const std::vector<LayoutTime>& times() const { return times_; }
    ColumnOrder take_columns() { return std::move(columns_); }

private:
    HostArray<float> filled(std::int64_t size) const {
        HostArray<float> out(usize(size));
        parallel_ranges(threads_, size, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
            std::fill(out.data() + begin, out.data() + end, 0.5F);
        });
        return out;
    }

    /// B of one panel, and a C of its own.
    struct Operands {
        HostArray<float> c;
        DenseSide<float> side;
        Panel panel;
        double count;
    };
    std::shared_ptr<Operands> operands(const TrialPanels& p, std::int64_t rows) const {
        HostArray<float> c = filled(rows * p.width);
        const MatrixView view{c.data(), rows, p.width, p.width, DType::f32};
        return std::make_shared<Operands>(Operands{
            std::move(c),
            {{b_.data(), a_.cols, p.width, p.width, DType::f32}, view, 1, 0, FlatEpilogue<float>(Epilogue{})},
            {0, p.width, p.width},
            static_cast<double>(p.count)});
    }

    std::vector<std::int64_t> tiles() const { return tile_candidates(panels_.front().width); }

    static std::shared_ptr<Part> part(double times, std::function<void()> run) {
        return std::make_shared<Part>(Part{std::move(run), times});
    }

    /// Some of B's rows are packed, for all.
    std::int64_t packed_rows() const { return std::max<std::int64_t>(1, a_.cols / 8); }

    /// B's rows in an order, `owner` keeping that alive.
    std::shared_ptr<Part> packing(const std::int32_t* row_at, std::shared_ptr<void> owner,
                                  const std::shared_ptr<Operands>& work) {
        const double times = static_cast<double>(a_.cols) / static_cast<double>(packed_rows()) * work->count;
        return part(times, [this, row_at, work, owner = std::move(owner)] {
            pack_rows(work->side.b, row_at, packed_rows(), work->panel, threads_, packed_.data());
        });
    }

    void add_rows() {
        std::vector<std::int64_t> cuts;
        const std::int64_t runs = std::min(a_.rows, runs_of_rows * one_row_in);
        for (std::int64_t i = 0; i <= runs; ++i) cuts.push_back(a_.rows * i / runs);
        const RowSample sample = sample_runs(a_, cuts, one_row_in, 1, threads_);
        const auto rows = std::make_shared<StoredRows<float>>(sample.rows, threads_);
        Candidate& plain = candidates_.emplace_back(Candidate{{Format::rows}, {}});
        for (const TrialPanels& p : panels_) {
            const auto work = operands(p, sample.rows.rows);
            plain.parts.push_back(part(sample.times * work->count,
                                       [this, rows, work] { spmm_by_rows(rows->csr, work->side, threads_); }));
        }
    }

    /// Columns in some of the stretches that every candidate's tiles divide.
    std::vector<char> columns_of_stretches() const {
        std::int64_t stretch = 1;
        for (const std::int64_t tile : tiles()) stretch = std::lcm(stretch, tile);
        const bool all = a_.cols < one_stretch_in * stretch;
        std::vector<char> kept(usize(a_.cols));
        for (std::size_t c = 0; c < kept.size(); ++c)
            kept[c] = all || columns_.position[c] / stretch % one_stretch_in == 1;
        return kept;
    }

    /// Times rows and tiles of one width; the other widths only where the first is not far behind rows. Tiles of every
    /// width have B packed alike.
    void add_tiles() {
        const std::vector<char> kept = columns_of_stretches();
        const std::vector<std::int64_t> widths = tiles();
        const RowSample sample =
            sample_runs(a_, cut_rows(a_, widths.back(), threads_), one_chunk_in, threads_, threads_, &kept);
        std::vector<std::shared_ptr<Part>> packings;
        for (const TrialPanels& p : panels_)
            packings.push_back(packing(columns_.column_at.data(), nullptr, operands(p, 0)));
        const std::int64_t first = widths[widths.size() / 2];
        add_tiled(sample, first, packings);
        time_from(0);
        if (seconds({Format::tiled, first}) > abandon_tiles_ratio * seconds({Format::rows})) return;
        const std::size_t timed = candidates_.size();
        for (const std::int64_t tile : widths)
            if (tile != first) add_tiled(sample, tile, packings);
        time_from(timed);
    }

    void add_tiled(const RowSample& sample, std::int64_t tile,
                   const std::vector<std::shared_ptr<Part>>& packings) {
        // The sample's runs are chunks of the widest tiles; narrower ones may have lower chunks.
        std::vector<std::int64_t> chunks{0};
        for (std::size_t k = 0; k + 1 < sample.first.size(); ++k) {
            const std::int64_t begin = sample.first[k], height = sample.first[k + 1] - begin;
            const std::int64_t parts = (height + tallest_chunk(tile) - 1) / tallest_chunk(tile);
            for (std::int64_t i = 1; i <= parts; ++i) chunks.push_back(begin + height * i / parts);
        }
        const auto tiled = std::make_shared<TiledMatrix<float>>(
            make_tiled<float>(sample.rows, {tile, columns_, std::move(chunks)}, threads_));
        Candidate& tiles = candidates_.emplace_back(Candidate{{Format::tiled, tile}, packings});
        for (const TrialPanels& p : panels_) {
            const auto work = operands(p, sample.rows.rows);
            tiles.parts.push_back(part(sample.times * work->count, [this, tiled, work] {
                multiply_chunks(*tiled, b_.data(), work->side, work->panel, threads_, workspace_);
            }));
        }
    }

    double seconds_of(const Candidate& c) const {
        double sum = 0;
        for (const auto& p : c.parts) sum += p->least_s * p->times;
        return sum / threads_;
    }

    /// Once each, then those that may be the fastest a second time; the least time of each part counts.
    void time_from(std::size_t first) {
        double limit = std::numeric_limits<double>::infinity();
        for (int turn = 0; turn < 2; ++turn) {
            std::vector<Part*> parts;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t i = first; i < candidates_.size(); ++i)
                if (turn == 0 || seconds_of(candidates_[i]) < limit)
                    for (const auto& p : candidates_[i].parts)
                        if (std::ranges::find(parts, p.get()) == parts.end()) parts.push_back(p.get());
            for (Part* const p : parts) {
                const double begin = processor_s();
                p->run();
                p->least_s = std::min(p->least_s, processor_s() - begin);
            }
            for (std::size_t i = first; i < candidates_.size(); ++i)
                least = std::min(least, seconds_of(candidates_[i]));
            limit = near_best * least;
        }
        for (std::size_t i = first; i < candidates_.size(); ++i) {
            times_.push_back({candidates_[i].layout, seconds_of(candidates_[i])});
            candidates_[i].parts.clear();  // and the memory that they own
        }
    }

    const Csr& a_;
    std::vector<TrialPanels> panels_;
    int threads_;
    ColumnOrder columns_;
    HostArray<float> b_, packed_;
    Workspace workspace_;
    std::vector<Candidate> candidates_;
    std::vector<LayoutTime> times_;
};

/// What a trial's outcome depends on, but for noise.
struct Question {
    std::int64_t rows, cols, nonzeros, core_cache;
    std::vector<TrialPanels> panels;
    int threads;
    std::uint64_t pattern;  ///< hash_of_pattern
    auto operator<=>(const Question&) const = default;
};

struct Answer {
    Layout layout;
    std::vector<LayoutTime> times;
    std::int64_t columns_timed = 0;
};

/// First answers of this process; nothing where memory for the trial was short.
struct Answers {
    std::mutex using_them;
    std::map<Question, std::optional<Answer>> of;
};
Answers& answers() {
    static Answers all;
    return all;
}

Layout rules_choice(const Csr& a, std::int64_t panel, bool clusters) {
    if (tiles_pay(a)) return {Format::tiled, tile_columns(panel)};
    return {clusters ? Format::reordered : Format::rows};
}

Layout fastest(const Trial& trial, Layout usual) {
    Layout best = usual;
    double least = (1 - margin) * trial.seconds(usual);
    for (const LayoutTime& t : trial.times())
        if (t.seconds < least) {
            best = t.layout;
            least = t.seconds;
        }
    return best;
}

}  // namespace

std::optional<ChosenLayout> by_timing(const Csr& a, const std::vector<std::int64_t>& widths, int threads) {
    const std::vector<TrialPanels> panels = trial_panels(widths);
    const Question question{a.rows, a.cols, a.nonzeros(), core_cache_bytes(), panels, threads, hash_of_pattern(a)};
    const std::lock_guard lock(answers().using_them);  // two trials at once would time each other
    if (const auto known = answers().of.find(question); known != answers().of.end()) {
        if (!known->second) return {};
        const Answer& before = *known->second;
        return ChosenLayout{.layout = before.layout, .times = before.times, .columns_timed = before.columns_timed};
    }
    std::optional<Answer>& answer = answers().of[question];
    const std::int64_t b_bytes = 4 * a.cols * panels.front().width,
                       sample_bytes = a.nonzeros() * 64 / one_chunk_in;
    if (const std::int64_t free = free_host_bytes(); free >= 0 && 4 * (2 * b_bytes + sample_bytes) > free)
        return {};
    ChosenLayout out;
    for (const TrialPanels& p : panels) out.columns_timed += p.width * p.count;
    Trial trial(a, panels, threads);
    if (trial.fastest(Format::tiled) > far_below_rows * trial.fastest(Format::rows) && clusters_may_pay(a)) {
        ClusterOrder order = cluster_order(a, cache_columns(), threads);
        if (order.inside > least_inside) {
            trial.try_clusters(order);
            out.clusters = std::move(order);
        }
    }
    out.layout = fastest(trial, rules_choice(a, panels.front().width, out.clusters.has_value()));
    out.times = trial.times();
    out.columns = trial.take_columns();
    answer = Answer{out.layout, out.times, out.columns_timed};
    return out;
}

}  // namespace gnnbench::cpu
