#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/cell_filter.hpp"
#include "record/compare.hpp"

namespace gnnbench {

namespace sqlite {
class Connection;
}

/// A trial that counts.
struct SideTrial {
    std::int64_t id = 0, experiment = 0;
    double epoch_s = 0;
    std::optional<std::int64_t> bytes, messages;
    bool oversubscribed = false;
};

/// A cell of a side, with all that tells it from others.
struct SideCell {
    std::string dataset, partitioner, scheme;
    std::string graph;  ///< digest of the dataset's content
    int gpus = 1;
    CellFields fields;
    bool simulated = false;                    ///< its ranks are
    std::map<std::int64_t, SideTrial> trials;  ///< the newest ok one of each number
};
using SideCells = std::map<std::int64_t, SideCell>;  ///< by cell id

/// The trials of a side, narrowed by `where`; throws SpecError if there are none.
std::vector<std::int64_t> trials_of_side(const sqlite::Connection& c, const std::string& side,
                                         const std::string& where);

/// The machine that measured the last of these trials.
std::int64_t machine_of_newest(const sqlite::Connection& c, const std::vector<std::int64_t>& trials);
std::string machine_name(const sqlite::Connection& c, std::int64_t machine);
SideSource source_of_newest(const sqlite::Connection& c, const std::vector<std::int64_t>& trials);

/// The successful ones of these trials on that machine, by cell.
SideCells read_side(const sqlite::Connection& c, const std::vector<std::int64_t>& trials, std::int64_t machine);

/// How many of them another experiment measured than the one that `text`, the side's name, names.
std::int64_t borrowed_trials(const sqlite::Connection& c, const std::string& text, const SideCells& side);

}  // namespace gnnbench
