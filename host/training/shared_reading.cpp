#include <gnnbench/training/shared_reading.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include <gnnbench/training/host_statement.hpp>
#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/usize.hpp>

#include "training/rounds.hpp"
#include "training/sent_records.hpp"

namespace gnnbench {

std::vector<VertexRun> reading_runs(const GraphView& graph, int ranks) {
    const std::int64_t n = graph.vertices(), all = graph.edges() + n;
    std::vector<VertexRun> runs;
    std::int64_t first = 0;
    for (int r = 1; r <= ranks; ++r) {
        // Entries and rows before v grow with v: found by halving, so that few row pointers are read.
        const std::int64_t wanted = block_begin(all, ranks, r);
        std::int64_t low = first, high = n;
        while (low < high) {
            const std::int64_t v = low + (high - low) / 2;
            if (graph.indptr[usize(v)] + v < wanted)
                low = v + 1;
            else
                high = v;
        }
        runs.push_back({first, low});
        first = low;
    }
    return runs;
}

namespace {

/// Sent of a row of a shard: first how many entries it has there, and its scale.
struct RowSize {
    std::int32_t row, count;
    double scale;
};
/// Then its entries, in one piece or several: `count` columns follow, then as many weights unless all are 1.
struct RowPiece {
    std::int32_t row, count;
};
struct SentScale {
    std::int32_t column;
    double scale;
};

struct Place {
    Part part;
    std::int32_t local;
};
Place place(const IndexMap& index, std::int64_t v) {
    const std::int64_t position = index.position(GlobalId{v});
    const Part part = index.part_at(position);
    return {part, static_cast<std::int32_t>(position - index.offset(part))};
}

/// Shards are numbered row by row.
int shard_number(const ShardsOfRanks& shards, Part row, Part column) {
    return row * shards.columns.parts() + column;
}

/// The entries of a run as they are sent: of each row those of one shard after those of another, columns ascending. So a
/// row is sorted where it is read, once, and not by each of the ranks that have its shard.
class RunByShards {
public:
    RunByShards(const Adjacency& a, VertexRun run, const ShardsOfRanks& shards) : weighted_(!a.unit_weights()) {
        std::int64_t entries = 0;
        for (std::int64_t v = run.first; v < run.end; ++v) entries += a.entries_of(Direction::forward, v, {});
        columns_.reserve(usize(entries));
        if (weighted_) weights_.reserve(usize(entries));
        pieces_.reserve(usize(std::min(entries, run.size() * shards.columns.parts())));
        const bool ascending = shards.columns.by_id();
        std::vector<std::vector<Entry>> of_part(usize(shards.columns.parts()));
        for (std::int64_t v = run.first; v < run.end; ++v) {
            a.weights(v, [&](std::int64_t column, double weight) {
                const auto [part, local] = place(shards.columns, column);
                of_part[usize(part)].push_back({local, weight});
            });
            const auto [row_part, row] = place(shards.rows, v);
            for (Part c = 0; c < shards.columns.parts(); ++c) {
                std::vector<Entry>& here = of_part[usize(c)];
                if (here.empty()) continue;
                if (!ascending) std::ranges::sort(here, {}, &Entry::column);
                for (const Entry& e : here) {
                    columns_.push_back(e.column);
                    if (weighted_) weights_.push_back(e.weight);
                }
                pieces_.push_back({static_cast<std::int32_t>(v), shard_number(shards, row_part, c), row,
                                   static_cast<std::int32_t>(std::ssize(here))});
                here.clear();
            }
        }
    }

    /// Calls use(v, shard, row, columns, weights) for each row v of the run and each shard in which it has entries: `row` and
    /// `columns` of the shard; no weights where all are 1.
    void for_rows(auto&& use) const {
        std::span<const std::int32_t> columns(columns_);
        std::span<const double> weights(weights_);
        for (const Piece& piece : pieces_) {
            const auto count = usize(piece.count);
            use(std::int64_t{piece.vertex}, piece.shard, piece.row, columns.first(count),
                weights.first(weighted_ ? count : 0));
            columns = columns.subspan(count);
            if (weighted_) weights = weights.subspan(count);
        }
    }

private:
    struct Entry {
        std::int32_t column;
        double weight;
    };
    struct Piece {
        std::int32_t vertex, shard, row, count;
    };
    static_assert(sizeof(Piece) == host_bytes::sent_row);

    bool weighted_;
    std::vector<Piece> pieces_;
    std::vector<std::int32_t> columns_;
    std::vector<double> weights_;
};

/// One rank's part in making the shards.
class ShardExchange {
public:
    ShardExchange(const Adjacency& a, VertexRun run, const ShardsOfRanks& shards, Transport& ranks,
                  std::int64_t round_bytes, ReadTimer& timer)
        : a_(a),
          run_(run),
          shards_(shards),
          sent_(a, run, shards),
          ranks_(ranks),
          round_bytes_(round_bytes),
          timer_(timer) {
        for (std::size_t k = 0; k < shards.row_of.size(); ++k)
            shard_of_.push_back(shard_number(shards, shards.row_of[k], shards.column_of[k]));
    }

    /// How many entries each row of this rank's shard has, in indptr[row + 1], and the row's scale.
    void exchange_sizes(std::span<std::int64_t> indptr, std::span<double> scales) {
        Rounds rounds(ranks_, shard_of_, shards(), round_bytes_, SharedReader::smallest_capacity,
                      [&](auto records) {
                          for_records(records, [&](const std::byte*& from) {
                              const auto size = take_value<RowSize>(from);
                              indptr[usize(size.row) + 1] = size.count;
                              scales[usize(size.row)] = size.scale;
                          });
                      });
        const ColumnScales own = a_.scales(Direction::backward, {run_.first, run_.end});
        sent_.for_rows([&](std::int64_t v, int shard, std::int32_t row, auto columns, auto) {
            const RowSize size{row, static_cast<std::int32_t>(std::ssize(columns)), own.of(v)};
            put_value(rounds.put(shard, sizeof size), size);
        });
        rounds.finish();
        timer_.exchanged(rounds);
    }

    /// The scales of the columns of this rank's shard.
    void exchange_scales(std::span<double> scales) {
        Rounds rounds(ranks_, shards_.column_of, shards_.columns.parts(), round_bytes_,
                      SharedReader::smallest_capacity, [&](auto records) {
                          for_records(records, [&](const std::byte*& from) {
                              const auto scale = take_value<SentScale>(from);
                              scales[usize(scale.column)] = scale.scale;
                          });
                      });
        const ColumnScales own = a_.scales(Direction::forward, {run_.first, run_.end});
        for (std::int64_t v = run_.first; v < run_.end; ++v) {
            const auto [part, column] = place(shards_.columns, v);
            const SentScale scale{column, own.of(v)};
            put_value(rounds.put(part, sizeof scale), scale);
        }
        rounds.finish();
        timer_.exchanged(rounds);
    }

    /// The entries of this rank's shard, whose row pointers are there, by the scales of its rows and columns.
    void exchange_entries(Csr& shard, std::span<const double> row_scales, std::span<const double> column_scales) {
        const bool weighted = !a_.unit_weights();
        std::vector<std::int64_t> next(shard.indptr.begin(), shard.indptr.end() - 1);
        Rounds rounds(ranks_, shard_of_, shards(), round_bytes_, SharedReader::smallest_capacity,
                      [&](auto records) {
                          for_records(records, [&](const std::byte*& from) {
                              const auto piece = take_value<RowPiece>(from);
                              const double scale = row_scales[usize(piece.row)];
                              const auto begin = usize(next[usize(piece.row)]), end = begin + usize(piece.count);
                              for (std::size_t e = begin; e < end; ++e)
                                  shard.indices[e] = take_value<std::int32_t>(from);
                              for (std::size_t e = begin; e < end; ++e) {
                                  const double weight = weighted ? take_value<double>(from) : 1.0;
                                  shard.values[e] = weight * scale * column_scales[usize(shard.indices[e])];
                              }
                              next[usize(piece.row)] = static_cast<std::int64_t>(end);
                          });
                      });
        sent_.for_rows([&](std::int64_t, int shard, std::int32_t row, auto columns, auto weights) {
            put_entries(rounds, shard, row, columns, weights);
        });
        rounds.finish();
        timer_.exchanged(rounds);
    }

private:
    int shards() const { return shards_.rows.parts() * shards_.columns.parts(); }

    static void put_entries(Rounds& rounds, int shard, std::int32_t row, std::span<const std::int32_t> columns,
                            std::span<const double> weights) {
        const std::size_t entry = sizeof(std::int32_t) + (weights.empty() ? 0 : sizeof(double));
        while (!columns.empty()) {
            const bool fits_now = rounds.left(shard) >= sizeof(RowPiece) + entry;
            const std::size_t room = (fits_now ? rounds.left(shard) : rounds.capacity()) - sizeof(RowPiece);
            const std::size_t count = std::min(columns.size(), room / entry);
            const RowPiece piece{row, static_cast<std::int32_t>(count)};
            std::byte* to = rounds.put(shard, sizeof piece + count * entry);
            to = put_value(to, piece);
            to = put_values(to, columns.first(count));
            columns = columns.subspan(count);
            if (weights.empty()) continue;
            put_values(to, weights.first(count));
            weights = weights.subspan(count);
        }
    }

    const Adjacency& a_;
    const VertexRun run_;
    const ShardsOfRanks& shards_;
    const RunByShards sent_;
    Transport& ranks_;
    std::int64_t round_bytes_;
    ReadTimer& timer_;
    std::vector<int> shard_of_;  ///< by rank
};

}  // namespace

SharedReader::SharedReader(const Problem& problem, std::unique_ptr<Transport> ranks, std::int64_t round_bytes)
    : problem_(problem),
      ranks_(std::move(ranks)),
      round_bytes_(round_bytes),
      run_(reading_runs(problem.dataset.graph, ranks_->size())[usize(ranks_->rank())]),
      mine_(problem.dataset.graph, problem.model, run_, problem.threads, problem.cost) {}

Csr SharedReader::read_shard(const ShardsOfRanks& shards) const {
    ReadTimer timer(problem_.cost, &SetupCost::cut);
    const ShardPlace at = shards.at(ranks_->rank());
    Csr shard{.rows = at.rows.size(at.row),
              .cols = at.columns.size(at.column),
              .indptr = std::vector<std::int64_t>(usize(at.rows.size(at.row)) + 1),
              .indices = {},
              .values = {}};
    std::vector<double> row_scales(usize(shard.rows)), column_scales(usize(shard.cols), 1.0);
    ShardExchange exchange(mine_, run_, shards, *ranks_, round_bytes_, timer);
    exchange.exchange_sizes(shard.indptr, row_scales);
    if (mine_.scales_columns(Direction::forward)) exchange.exchange_scales(column_scales);
    std::partial_sum(shard.indptr.begin(), shard.indptr.end(), shard.indptr.begin());
    shard.indices.resize(usize(shard.indptr.back()));
    shard.values.resize(shard.indices.size());
    exchange.exchange_entries(shard, row_scales, column_scales);
    timer.add_bytes(shard.bytes());
    return shard;
}

}  // namespace gnnbench
