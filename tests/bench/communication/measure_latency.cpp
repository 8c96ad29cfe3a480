#include <algorithm>
#include <chrono>
#include <limits>

#include <gnnbench/communicator.hpp>

#include "mpi/check.hpp"
#include "measure.hpp"

namespace gnnbench::bench {
namespace {

using nlohmann::json;

constexpr int repetitions = 200;

/// Seconds of one of many calls in a row.
double seconds_of_one(const ProcessGroup& world, auto&& call) {
    world.barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / repetitions;
}

}  // namespace

json measure_latency(const Ground& g) {
    VolumeCounter counter;
    const auto over_shared = cpu_backend(g, "shared"), over_mpi = cpu_backend(g, "mpi");
    Communicator shared(over_shared->connect(g.world), *over_shared, counter);
    Communicator mpi(over_mpi->connect(g.world), *over_mpi, counter);
    const MPI_Comm comm = *static_cast<MPI_Comm*>(g.world.native());
    json rows = json::array();
    for (const std::int64_t elements : {2, 256, 4096, 16384}) {
        const Matrix a = over_shared->matrix(1, elements), b = over_mpi->matrix(1, elements);
        over_shared->fill(a, 0);
        over_mpi->fill(b, 0);
        const int count = static_cast<int>(elements);
        struct Operation {
            const char* name;
            void (*ours)(Communicator&, const Matrix&);
            void (*plain)(void*, int, MPI_Comm);
        };
        const Operation operations[] = {
            {"all-reduce", [](Communicator& c, const Matrix& m) { c.all_reduce_now(m); },
             [](void* p, int n, MPI_Comm c) { MPI_Allreduce(MPI_IN_PLACE, p, n, MPI_FLOAT, MPI_SUM, c); }},
            {"broadcast", [](Communicator& c, const Matrix& m) { c.broadcast_now(m, 0); },
             [](void* p, int n, MPI_Comm c) { MPI_Bcast(p, n, MPI_FLOAT, 0, c); }},
        };
        for (const Operation& o : operations) {
            constexpr double none = std::numeric_limits<double>::infinity();
            double by_shared = none, by_mpi = none, plain = none;
            for (int round = 0; round < g.rounds; ++round) {
                for (Backend* k : {over_shared.get(), over_mpi.get()}) k->trace().begin_epoch();
                by_shared = std::min(by_shared, seconds_of_one(g.world, [&] { o.ours(shared, a); }));
                by_mpi = std::min(by_mpi, seconds_of_one(g.world, [&] { o.ours(mpi, b); }));
                plain = std::min(plain, seconds_of_one(g.world, [&] { o.plain(b.view().data, count, comm); }));
                for (Backend* k : {over_shared.get(), over_mpi.get()}) k->trace().end_epoch();
            }
            const auto mean = mean_over_ranks(g.world, {by_shared, by_mpi, plain});
            rows.push_back({{"operation", o.name},
                            {"bytes", 4 * elements},
                            {"shared_s", mean[0]},
                            {"mpi_s", mean[1]},
                            {"plain_s", mean[2]}});
        }
    }
    return rows;
}

}  // namespace gnnbench::bench
