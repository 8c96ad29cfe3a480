#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <span>

#include <gnnbench/training/process_grid.hpp>
#include <gnnbench/training/shared_reading.hpp>
#include <gnnbench/training/vertex_data.hpp>
#include <gnnbench/usize.hpp>

#include "training/rounds.hpp"
#include "training/sent_records.hpp"

namespace gnnbench {

Matrix SharedReader::read_features(const IndexMap& order, const std::vector<HeldFeatures>& held,
                                   Backend& backend) const {
    ReadTimer timer(problem_.cost, &SetupCost::read);
    const HeldFeatures& own = held[usize(ranks_->rank())];
    std::vector<float> rows(usize(own.rows * own.columns));
    std::vector<int> groups;                           // each rank by itself, unless it holds nothing
    std::map<std::int64_t, std::vector<int>> holders;  // of the run of rows that begins at a position
    std::int64_t most_columns = 0;
    for (int k = 0; k < std::ssize(held); ++k) {
        const bool holds = held[usize(k)].rows > 0 && held[usize(k)].columns > 0;
        groups.push_back(holds ? k : -1);
        if (holds) holders[held[usize(k)].first].push_back(k);
        most_columns = std::max(most_columns, held[usize(k)].columns);
    }
    const auto record = [](std::int64_t columns) { return sizeof(std::int32_t) + usize(columns) * sizeof(float); };
    Rounds rounds(*ranks_, groups, ranks_->size(), round_bytes_, static_cast<std::int64_t>(record(most_columns)),
                  [&](std::span<const std::byte> records) {
                      for_records(records, [&](const std::byte*& from) {
                          const auto row = take_value<std::int32_t>(from);
                          std::memcpy(rows.data() + row * own.columns, from, usize(own.columns) * sizeof(float));
                          from += usize(own.columns) * sizeof(float);
                      });
                  });
    const DatasetView& data = problem_.dataset;
    const std::int64_t n = order.vertices(), first = block_begin(n, ranks_->size(), ranks_->rank()),
                       end = first + block_size(n, ranks_->size(), ranks_->rank());
    std::vector<GlobalId> some;
    for (std::int64_t begin = first; begin < end; begin += feature_rows_at_once) {
        some.clear();
        for (std::int64_t v = begin; v < std::min(begin + feature_rows_at_once, end); ++v)
            some.push_back(GlobalId{v});
        const std::vector<float> x =
            host_features(data, problem_.model, some, 0, data.feature_count, problem_.threads);
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::int64_t position = order.position(some[i]);
            const auto after = holders.upper_bound(position);
            if (after == holders.begin()) continue;
            const auto& [run, ranks] = *std::prev(after);
            for (const int k : ranks) {
                const HeldFeatures& h = held[usize(k)];
                if (position >= run + h.rows) continue;
                const auto row = static_cast<std::int32_t>(position - run);
                std::byte* const to = put_value(rounds.put(k, record(h.columns)), row);
                put_values(to, std::span<const float>(x).subspan(
                                   i * usize(data.feature_count) + usize(h.first_column), usize(h.columns)));
            }
        }
    }
    rounds.finish();
    timer.exchanged(rounds);
    Matrix held_rows = backend.matrix(own.rows, own.columns);
    backend.upload(std::span<const float>(rows), held_rows);
    timer.add_bytes(own.rows * own.columns * static_cast<std::int64_t>(size_of(backend.dtype())));
    return held_rows;
}

}  // namespace gnnbench
