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
#include <gnnbench/usize.hpp>

#include "launch/in_child.hpp"
#include "launch/oom_killer.hpp"
#include "partition/ordered.hpp"

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

/// A line of /proc/self/status in bytes: "VmHWM".
std::int64_t own_memory(const std::string& field) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
    return 0;
}

/// Makes the graph resident, so that its pages do not count as the partitioner's.
void touch(const GraphView& graph) {
    constexpr std::size_t page = 4096;
    volatile char sum = 0;
    const auto walk = [&](auto array) {
        const auto bytes = std::as_bytes(array);
        for (std::size_t i = 0; i < bytes.size(); i += page)
            sum = static_cast<char>(sum + static_cast<char>(bytes[i]));
    };
    walk(graph.indptr);
    walk(graph.indices);
    walk(graph.weights);
}

/// What the child says: how it ended, and its numbers.
json partition_here(const Partitioner& partitioner, const PartitionTask& task, SharedNumbers& out) {
    touch(task.dataset.graph);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak counts from here
    const std::int64_t before = own_memory("VmRSS");
    const auto start = std::chrono::steady_clock::now();
    const Partition p = partition_in_order(partitioner, task);
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::int64_t peak = own_memory("VmHWM");
    std::ranges::copy(p.part_of, out.data());
    std::ranges::copy(p.order, out.data() + p.part_of.size());
    std::ranges::copy(p.part_of_entry, out.data() + 2 * p.part_of.size());
    return {{"wall_s", wall_s},
            {"peak_bytes", std::max<std::int64_t>(peak - before, 0)},
            {"ordered", !p.order.empty()}};
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

}  // namespace gnnbench
