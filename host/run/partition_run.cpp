#include "run/partition_run.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>
#include <gnnbench/usize.hpp>

#include "data/options.hpp"
#include "launch/in_child.hpp"
#include "launch/machine.hpp"
#include "launch/oom_killer.hpp"
#include "launch/trial.hpp"
#include "partition/ordered.hpp"
#include "partition/peak_memory.hpp"
#include "worker/partition_request.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

/// Memory that a forked process shares: parts of the rows, then the order, then parts of entries.
class SharedNumbers {
public:
    explicit SharedNumbers(std::size_t count) : bytes_(std::max<std::size_t>(count, 1) * sizeof(std::int32_t)) {
        void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            throw OutOfMemory(
                fmt::format("the host has no {} bytes for a partition: {}", bytes_, std::strerror(errno)));
        data_ = static_cast<std::int32_t*>(at);
    }
    SharedNumbers(const SharedNumbers&) = delete;
    ~SharedNumbers() { ::munmap(data_, bytes_); }
    std::int32_t* data() { return data_; }

private:
    std::size_t bytes_;
    std::int32_t* data_;
};

/// What the child says: how it ended, and its numbers.
json partition_here(const Partitioner& partitioner, const PartitionTask& task, SharedNumbers& out) {
    const GraphView& graph = task.dataset.graph;
    touch_rows(graph, {0, graph.vertices()});
    const PeakMemory memory;
    const auto start = std::chrono::steady_clock::now();
    const Partition p = partition_in_order(partitioner, task);
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::int64_t peak = memory.bytes();
    std::ranges::copy(p.part_of, out.data());
    std::ranges::copy(p.order, out.data() + p.part_of.size());
    std::ranges::copy(p.part_of_entry, out.data() + 2 * p.part_of.size());
    return {{"wall_s", wall_s}, {"peak_bytes", peak}, {"ordered", !p.order.empty()}};
}

std::string partition_and_say(const Partitioner& partitioner, const PartitionTask& task, SharedNumbers& out) {
    const auto failed = [](const char* kind, const char* why) {
        return json{{"failed", kind}, {"why", why}}.dump(-1, ' ', false, json::error_handler_t::replace);
    };
    try {
        return partition_here(partitioner, task, out).dump();
    } catch (const Unsupported& e) {
        return failed("unsupported", e.what());
    } catch (const OutOfMemory& e) {
        return failed("oom", e.what());
    } catch (const std::bad_alloc&) {
        return failed("oom", "the host has no memory left to partition the graph in");
    } catch (const DataError& e) {
        return failed("data", e.what());
    } catch (const std::exception& e) {
        return failed("other", e.what());
    }
}

[[noreturn]] void throw_again(const std::string& kind, const std::string& why) {
    if (kind == "oom") throw OutOfMemory(why);
    if (kind == "data") throw DataError(why);
    throw Error(why);
}

}  // namespace

PartitionRun run_partitioner(const std::string& name, const Partitioner& partitioner, const PartitionTask& task,
                             double limit_s) {
    const GraphView& graph = task.dataset.graph;
    PartitionRun run;
    run.skipped = why_not_served(partitioner, {graph.vertices(), graph.edges(), !graph.weights.empty()}, task.need,
                                 task.params);
    if (!run.skipped.empty()) return run;
    const auto n = usize(graph.vertices());
    const auto entries = task.need.vertex_cut ? usize(graph.edges()) : 0;
    SharedNumbers numbers(2 * n + entries);
    const OomKiller killer;
    const ChildResult child =
        call_in_child([&] { return partition_and_say(partitioner, task, numbers); }, limit_s);
    if (!child.failure.empty()) {
        const std::string why =
            fmt::format("partitioner {} with {} parts {}", name, task.need.parts, child.failure);
        if (killer.has_killed()) throw OutOfMemory(why + ": the host ran out of memory");
        throw Error(why);
    }
    const json said = json::parse(child.said);
    if (said.contains("failed")) {
        if (said["failed"] != "unsupported") throw_again(said["failed"], said["why"]);
        run.skipped = said["why"];
        return run;
    }
    run.wall_s = said.at("wall_s");
    run.peak_bytes = said.at("peak_bytes");
    run.partition = {
        .parts = task.need.parts, .part_of = {numbers.data(), numbers.data() + n}, .column_part_of = {}};
    if (said.at("ordered")) run.partition.order.assign(numbers.data() + n, numbers.data() + 2 * n);
    run.partition.part_of_entry.assign(numbers.data() + 2 * n, numbers.data() + 2 * n + entries);
    return run;
}

namespace {

/// What the ranks say: how they ended, and their numbers. Throws EnvironmentError where they do not start or end in time.
json partition_over_ranks(const std::string& name, const PartitionRequest& request, int ranks, double limit_s,
                          const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "request.json";
    std::ofstream(file) << to_json(request);
    const RankLoad load{.ranks = ranks, .threads_per_rank = 1, .cores = usable_cores()};
    const ProgramOutput out =
        run_workers(find_mpiexec(), load, {"--partition", file.string()}, "partition", limit_s);
    const std::size_t at = out.text.find(partition_mark);
    if (at == std::string::npos)
        throw Error(fmt::format("partitioner {} over {} ranks ended with {} and without parts; the ranks said: {}",
                                name, ranks, out.exit_code, out.text.substr(0, 2000)));
    const std::size_t begin = at + std::string_view(partition_mark).size();
    return json::parse(out.text.substr(begin, out.text.find('\n', begin) - begin));
}

}  // namespace

PartitionRun run_distributed(const std::string& name, const Partitioner& partitioner, const PartitionTask& task,
                             const std::filesystem::path& store, int ranks, double limit_s) {
    const GraphView& graph = task.dataset.graph;
    PartitionRun run;
    run.skipped = why_not_served(partitioner, {graph.vertices(), graph.edges(), !graph.weights.empty()}, task.need,
                                 task.params);
    if (!run.skipped.empty()) return run;
    const TemporaryFolder folder("partition");
    const PartitionRequest request{.store = std::filesystem::absolute(store).string(),
                                   .partitioner = name,
                                   .params = to_json(task.params),
                                   .parts = task.need.parts,
                                   .seed = task.seed,
                                   .output = (folder.path() / "parts").string()};
    std::ofstream(request.output).close();
    std::filesystem::resize_file(request.output, usize(graph.vertices()) * sizeof(Part));
    const json said = partition_over_ranks(name, request, ranks, limit_s, folder.path());
    if (said.contains("failed")) {
        if (said["failed"] != "unsupported") throw_again(said["failed"], said["why"]);
        run.skipped = said["why"];
        return run;
    }
    run.ranks = ranks;
    run.wall_s = said.at("wall_s");
    run.peak_bytes = said.at("peak_bytes");
    run.partition = {
        .parts = task.need.parts, .part_of = std::vector<Part>(usize(graph.vertices())), .column_part_of = {}};
    std::ifstream parts(request.output, std::ios::binary);
    if (!parts.read(reinterpret_cast<char*>(run.partition.part_of.data()),
                    std::ssize(run.partition.part_of) * std::int64_t{sizeof(Part)}))
        throw EnvironmentError(fmt::format("cannot read the parts that ranks wrote to '{}'", request.output));
    put_in_order(run.partition, task);
    return run;
}

}  // namespace gnnbench
