// External merge sort (Knuth, The Art of Computer Programming, volume 3, section 5.4): runs that fit memory are sorted and
// written one after another, then merged by a tree of losers, in several passes where there are more than are read at once.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <gnnbench/usize.hpp>

#include <data/spill_file.hpp>

namespace gnnbench {

/// Fuzzers are built without OpenMP.
inline std::size_t sorting_threads() {
#ifdef _OPENMP
    return std::clamp<std::size_t>(usize(omp_get_max_threads()), 1, 16);
#else
    return 1;
#endif
}

/// Records in memory at a time.
struct SortSizes {
    std::size_t run_records = 0;    ///< collected, and as many again to sort them
    std::size_t block_records = 0;  ///< of each run that is merged
    std::size_t fan_in = 2;         ///< runs merged at once

    /// What takes at most so many bytes, but a few thousand at the least.
    static SortSizes within(std::uint64_t bytes, std::size_t record_bytes) {
        const std::uint64_t block = std::clamp<std::uint64_t>(bytes / 256, 1 << 10, 1 << 18);
        return {.run_records = usize(std::max<std::uint64_t>(bytes / (2 * record_bytes), 64)),
                .block_records = usize(std::max<std::uint64_t>(block / record_bytes, 1)),
                .fan_in = usize(std::max<std::uint64_t>(bytes / block, 2))};
    }
};

/// Sorts records by (row, col), both from 0 on; equal ones stay in the order in which they were added, so that what is
/// made of them is what a stable sort in memory makes. `Record`: plain data with members row and col, std::int32_t.
template <class Record>
class ExternalSort {
public:
    ExternalSort(const std::filesystem::path& folder, SortSizes sizes)
        : folder_(folder), sizes_(sizes), file_(folder) {
        collected_.reserve(sizes.run_records);
    }

    void add(const Record& record) {
        if (collected_.size() == sizes_.run_records) write_runs();
        collected_.push_back(record);
    }
    /// Calls take(record) for all of them in order; once, after the last was added. `sizes`: of what is read at once.
    template <class Take>
    void merge(SortSizes sizes, Take take) {
        write_runs();
        collected_ = {};
        scratch_ = {};
        sizes_ = sizes;
        while (runs_.size() > sizes_.fan_in) merge_once();
        merge_runs(std::span(runs_), take);
    }

    std::int64_t runs_written() const { return runs_written_; }
    std::int64_t passes() const { return passes_; }  ///< over all records, before the last

private:
    /// Records [begin, end) of the file.
    struct Run {
        std::uint64_t begin, end;
    };

    static std::uint64_t key(const Record& r) {
        return static_cast<std::uint64_t>(r.row) << 32 | static_cast<std::uint32_t>(r.col);
    }

    /// By digits of 11 bits, the last first; digits that all records share are passed over.
    static void sort(std::span<Record> records, std::span<Record> scratch) {
        constexpr int digits = 6, bits = 11;
        std::vector<std::array<std::size_t, 1 << bits>> counts(digits);
        const auto digit = [](const Record& r, int d) { return key(r) >> (bits * d) & ((1 << bits) - 1); };
        for (const Record& r : records)
            for (int d = 0; d < digits; ++d) ++counts[usize(d)][digit(r, d)];
        Record *from = records.data(), *to = scratch.data();
        for (int d = 0; d < digits; ++d) {
            auto& count = counts[usize(d)];
            if (std::ranges::find(count, records.size()) != count.end()) continue;
            std::size_t begin = 0;
            for (std::size_t& c : count) begin += std::exchange(c, begin);
            for (std::size_t i = 0; i < records.size(); ++i) to[count[digit(from[i], d)]++] = from[i];
            std::swap(from, to);
        }
        if (from != records.data()) std::copy(from, from + records.size(), records.data());
    }

    /// What is collected, as one run for each thread.
    void write_runs() {
        if (collected_.empty()) return;
        constexpr std::size_t least =
            4096;  // records of a piece; the result does not depend on how many there are
        const std::size_t pieces = std::clamp<std::size_t>(collected_.size() / least, 1, sorting_threads());
        if (scratch_.size() < collected_.size()) scratch_.resize(collected_.size());
        std::vector<std::size_t> ends;
        for (std::size_t p = 0; p <= pieces; ++p) ends.push_back(collected_.size() * p / pieces);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
        for (std::size_t p = 0; p < pieces; ++p)
            sort(std::span(collected_).subspan(ends[p], ends[p + 1] - ends[p]),
                 std::span(scratch_).subspan(ends[p], ends[p + 1] - ends[p]));
        for (std::size_t p = 0; p < pieces; ++p) runs_.push_back({written_ + ends[p], written_ + ends[p + 1]});
        written_ += collected_.size();
        runs_written_ += static_cast<std::int64_t>(pieces);
        file_.append(std::as_bytes(std::span(collected_)));
        collected_.clear();
    }

    /// Groups of neighbouring runs become one each, in another file.
    void merge_once() {
        SpillFile merged(folder_);
        std::vector<Run> runs;
        std::vector<Record> out;
        std::uint64_t end = 0;
        const auto write = [&] {
            merged.append(std::as_bytes(std::span(out)));
            end += out.size();
            out.clear();
        };
        for (std::size_t first = 0; first < runs_.size(); first += sizes_.fan_in) {
            const std::uint64_t begin = end;
            merge_runs(std::span(runs_).subspan(first, std::min(sizes_.fan_in, runs_.size() - first)),
                       [&](const Record& r) {
                           out.push_back(r);
                           if (out.size() == sizes_.block_records) write();
                       });
            write();
            runs.push_back({begin, end});
        }
        file_ = std::move(merged);
        runs_ = std::move(runs);
        ++passes_;
    }

    /// A run as it is read, block by block.
    struct Reader {
        Run left;
        std::vector<Record> block;
        std::size_t at = 0;
    };

    /// False at its end.
    bool refill(Reader& reader) const {
        reader.at = 0;
        reader.block.resize(
            usize(std::min<std::uint64_t>(sizes_.block_records, reader.left.end - reader.left.begin)));
        file_.read(reader.left.begin * sizeof(Record), std::as_writable_bytes(std::span(reader.block)));
        reader.left.begin += reader.block.size();
        return !reader.block.empty();
    }

    /// Among equal keys, those of the earlier run come first.
    template <class Take>
    void merge_runs(std::span<const Run> runs, Take&& take) const {
        std::vector<Reader> readers;
        for (const Run& run : runs) readers.push_back({.left = run, .block = {}});
        constexpr std::uint64_t ended = UINT64_MAX;  // no key is as large
        struct Player {
            std::uint64_t key;
            std::size_t run;
            bool operator<(const Player& other) const {
                return key != other.key ? key < other.key : run < other.run;
            }
        };
        std::size_t leaves = 1;
        while (leaves < readers.size()) leaves *= 2;
        // losers[i]: who lost the match at node i; the winner goes up. losers[0]: who won all.
        std::vector<Player> losers(leaves), winners(2 * leaves, Player{ended, 0});
        for (std::size_t r = 0; r < leaves; ++r) {
            const bool any = r < readers.size() && refill(readers[r]);
            winners[leaves + r] = {any ? key(readers[r].block.front()) : ended, r};
        }
        for (std::size_t i = leaves - 1; i > 0; --i) {
            const Player &a = winners[2 * i], &b = winners[2 * i + 1];
            winners[i] = std::min(a, b);
            losers[i] = std::max(a, b);
        }
        for (Player winner = winners[1]; winner.key != ended;) {
            Reader& reader = readers[winner.run];
            take(reader.block[reader.at]);
            const bool more = ++reader.at < reader.block.size() || refill(reader);
            winner.key = more ? key(reader.block[reader.at]) : ended;
            for (std::size_t i = (leaves + winner.run) / 2; i > 0; i /= 2)
                if (losers[i] < winner) std::swap(losers[i], winner);
        }
    }

    std::filesystem::path folder_;
    SortSizes sizes_;
    SpillFile file_;
    std::vector<Record> collected_, scratch_;
    std::vector<Run> runs_;
    std::uint64_t written_ = 0;
    std::int64_t runs_written_ = 0, passes_ = 0;
};

}  // namespace gnnbench
