#include "worker/verify/partition_check.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "worker/workload.hpp"

namespace gnnbench {
namespace {

/// One array of both answers.
struct Answers {
    const char* what;
    const char* of;  ///< "vertex"
    const std::vector<std::int32_t>&first, &second;
};

/// Empty where they are equal.
std::string difference(const Answers& a) {
    if (a.first.size() != a.second.size())
        return fmt::format("{} entries of `{}`, then {}", a.first.size(), a.what, a.second.size());
    const auto [x, y] = std::ranges::mismatch(a.first, a.second);
    if (x == a.first.end()) return {};
    return fmt::format("`{}` of {} {} is {}, then {}", a.what, a.of, x - a.first.begin(), *x, *y);
}

}  // namespace

void check_partitioner(const Partition& first, const Partitioner& partitioner, const PartitionTask& task,
                       const ProcessGroup& group, Ledger& ledger) {
    const Partition second = partition_on_root(partitioner, task, group, nullptr).partition;
    if (group.rank() != 0) return;
    CheckCount& count = ledger.count("partitioner");
    ++count.calls;
    count.elements += task.dataset.graph.vertices();
    for (const Answers& a : {Answers{"part_of", "vertex", first.part_of, second.part_of},
                             Answers{"column_part_of", "vertex", first.column_part_of, second.column_part_of},
                             Answers{"order", "vertex", first.order, second.order},
                             Answers{"part_of_entry", "entry", first.part_of_entry, second.part_of_entry}})
        if (const std::string differs = difference(a); !differs.empty())
            return ledger.add_fault("partitioner",
                                    "asked twice for the same partition, it answers differently: " + differs);
}

}  // namespace gnnbench
