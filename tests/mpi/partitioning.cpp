// Rank 0 partitions while the others wait for it. What goes wrong there ends all of them alike: memory that runs out as
// OutOfMemory, whichever exception tells of it, everything else as the error it is.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gnnbench/error.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/transport.hpp>
#include <gnnbench/usize.hpp>

#include "worker/workload.hpp"
#include "mpi/mpi.hpp"

using namespace gnnbench;

namespace {

class Failing final : public Partitioner {
public:
    explicit Failing(std::function<void()> fail) : fail_(std::move(fail)) {}
    std::string why_unsupported(const GraphSize&, const PartitionNeed&, const Params&) const override {
        return {};
    }
    Partition partition(const PartitionTask& task) const override {
        fail_();
        return {.parts = task.need.parts, .part_of = {0, 1, 0}, .column_part_of = {}, .order = {2, 0, 1}};
    }

private:
    std::function<void()> fail_;
};

/// Gives each row the number of the rank that it is a row of.
class ByRank final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed&, const Params&) const override {
        return {};
    }
    bool distributed() const override { return true; }
    Partition partition(const PartitionTask& task) const override {
        const RowRange rows = rows_of_rank(task.dataset.graph, task.processes->size(), task.processes->rank());
        return {.parts = task.need.parts,
                .part_of = std::vector<Part>(usize(rows.count()), task.processes->rank()),
                .column_part_of = {}};
    }
};

/// "oom: …", "error: …", or "parts: …" on this rank.
std::string outcome(const ProcessGroup& group, const Partitioner& partitioner) {
    const std::vector<std::int64_t> indptr(4);
    const DatasetView data{.name = "",
                           .graph = {.indptr = indptr, .indices = {}, .weights = {}},
                           .features = {},
                           .labels = {},
                           .split = {}};
    try {
        const Partition p = make_partition(
            partitioner, {.dataset = data, .model = {}, .need = {.parts = group.size()}, .params = {}, .seed = 1},
            group);
        return fmt::format("parts: {}, order: {}", fmt::join(p.part_of, " "), fmt::join(p.order, " "));
    } catch (const OutOfMemory& e) {
        return std::string("oom: ") + e.what();
    } catch (const Unsupported& e) {
        return std::string("unsupported: ") + e.what();
    } catch (const Error& e) {
        return std::string("error: ") + e.what();
    }
}

bool all_say(const ProcessGroup& group, const char* expected, const Partitioner& partitioner) {
    bool right = true;
    int rank = 0;
    for (const std::string& said : group.all_gather(outcome(group, partitioner))) {
        if (said != expected && group.rank() == 0)
            std::printf("rank %d: expected '%s', found '%s'\n", rank, expected, said.c_str());
        right = right && said == expected;
        ++rank;
    }
    return right;
}

bool all_say(const ProcessGroup& group, const char* expected, std::function<void()> fail) {
    return all_say(group, expected, Failing(std::move(fail)));
}

std::string index_text(const IndexMap& index) {
    std::string text = fmt::format("offsets {}, by id {}:", fmt::join(index.offsets(), " "), index.by_id());
    for (Part p = 0; p < index.parts(); ++p)
        for (const GlobalId v : index.owned(p)) text += fmt::format(" {}@{}", value(v), index.position(v));
    return text + fmt::format("; entries {}", fmt::join(index.part_of_entry(), " "));
}

/// Every rank has rank 0's index map, and nothing is left in the temporary folder.
bool same_index_everywhere(const ProcessGroup& group, const Partition& partition) {
    SetupPart cost;
    const Partition nothing{.parts = partition.parts, .part_of = {}, .column_part_of = {}};
    const IndexMap index = shared_index(group.rank() == 0 ? partition : nothing, group, cost);
    const std::string expected = index_text(IndexMap(partition));
    bool right = true;
    for (const std::string& said : group.all_gather(index_text(index))) right = right && said == expected;
    if (!right && group.rank() == 0) std::printf("an index map is not as expected: %s\n", expected.c_str());
    return right;
}

/// In a temporary folder of their own, where there is one.
bool shares_index(const ProcessGroup& group) {
    const Partition natural{.parts = 3, .part_of = {0, 0, 2, 2, 2}, .column_part_of = {}},
        mixed{.parts = 3, .part_of = {2, 0, 2, 0, 2}, .column_part_of = {}},
        ordered{.parts = 2, .part_of = {1, 0, 1, 0, 1}, .column_part_of = {}, .order = {4, 3, 2, 1, 0}};
    Partition cut = natural, mixed_cut = mixed;
    cut.part_of_entry = {2, 1, 0, 0, 1, 2, 2};
    mixed_cut.part_of_entry = {0, 2};
    bool right = true;
    for (const Partition& p : {natural, mixed, ordered, cut, mixed_cut}) right &= same_index_everywhere(group, p);
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool right = true;
    {
        const ProcessGroup world = mpi_world();
        right &= all_say(world, "parts: 0 1 0, order: 2 0 1", [] {});
        right &= all_say(world, "parts: 0 1 2, order: ", ByRank());
        right &= all_say(world, "oom: the partitioner asked for 900 GiB",
                         [] { throw OutOfMemory("the partitioner asked for 900 GiB"); });
        right &= all_say(world, "oom: the host has no memory left to partition the graph in",
                         [] { throw std::bad_alloc(); });
        right &= all_say(world, "unsupported: too large", [] { throw Unsupported("too large"); });
        right &= all_say(world, "error: no such part", [] { throw DataError("no such part"); });
        right &= all_say(world, "error: out of range", [] { throw std::out_of_range("out of range"); });
        right &= shares_index(world);
        setenv("TMPDIR", "/nowhere", 1);  // no file can be shared: every rank gets a copy
        right &= shares_index(world);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
