#include "worker/partition_ranks.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <new>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "data/options.hpp"
#include "data/store.hpp"
#include "mpi/mpi.hpp"
#include "partition/peak_memory.hpp"
#include "plugin/agreement.hpp"
#include "plugin/loader.hpp"
#include "worker/partition_request.hpp"

namespace gnnbench {
namespace {

using nlohmann::json;

void write_parts(const std::string& file, const std::vector<Part>& parts, std::int64_t first) {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(first * std::int64_t{sizeof(Part)});
    out.write(reinterpret_cast<const char*>(parts.data()), std::ssize(parts) * std::int64_t{sizeof(Part)});
    out.close();
    if (!out) throw EnvironmentError("cannot write parts to '" + file + "'; is the disk full?");
}

json partitioned(const PartitionRequest& request, const ProcessGroup& world) {
    const PluginCatalog catalog;
    const PluginRequest wanted[] = {{PluginKind::partitioner, request.partitioner}};
    agree_on_plugins(world, catalog, wanted);
    const auto partitioner = catalog.partitioner(request.partitioner);
    const Params params = resolve_params(catalog.find(PluginKind::partitioner, request.partitioner).params,
                                         request.params, "partitioner " + request.partitioner);
    const Store store = Store::open(request.store);
    const DatasetView data = store.view();
    const RowRange rows = rows_of_rank(data.graph, world.size(), world.rank());
    touch_rows(data.graph, rows);
    world.barrier();
    const PeakMemory memory;
    const auto start = std::chrono::steady_clock::now();
    const Partition found = partitioner->partition({.dataset = data,
                                                    .model = {},
                                                    .need = {.parts = request.parts},
                                                    .params = params,
                                                    .seed = request.seed,
                                                    .processes = &world});
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto most = world.maximum({wall_s, static_cast<double>(memory.bytes())});
    if (std::ssize(found.part_of) != rows.count())
        throw LogicError("partitioner " + request.partitioner + " gave parts to " +
                         std::to_string(found.part_of.size()) + " rows of a rank that has " +
                         std::to_string(rows.count()));
    write_parts(request.output, found.part_of, rows.first);
    world.barrier();
    return {{"wall_s", most[0]}, {"peak_bytes", static_cast<std::int64_t>(most[1])}};
}

void say(const json& line) {
    std::printf("%s%s\n", partition_mark, line.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
    std::fflush(stdout);
}

/// Other ranks may wait for this one, so it ends them all.
[[noreturn]] void end_all(const char* kind, const char* why) {
    say({{"failed", kind}, {"why", why}});
    mpi_abort(1);
}

}  // namespace

int partition_ranks(const char* request) {
    mpi_start();
    try {
        const ProcessGroup world = mpi_world();
        json line;
        try {
            line = partitioned(read_partition_request(request), world);
        } catch (const Unsupported& e) {  // which all ranks throw
            line = {{"failed", "unsupported"}, {"why", e.what()}};
        }
        if (world.rank() == 0) say(line);
    } catch (const OutOfMemory& e) {
        end_all("oom", e.what());
    } catch (const std::bad_alloc&) {
        end_all("oom", "the host has no memory left for a rank that partitions");
    } catch (const DataError& e) {
        end_all("data", e.what());
    } catch (const std::exception& e) {
        end_all("other", e.what());
    }
    mpi_finish();
    return 0;
}

}  // namespace gnnbench
