#include "worker/rank.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <limits>
#include <malloc.h>
#include <optional>
#include <string_view>

#include <gnnbench/error.hpp>

#include "core/blas_processor.hpp"
#include "core/subnormals.hpp"
#include "launch/die_with_parent.hpp"
#include "mpi/mpi.hpp"
#include "worker/calibration.hpp"
#include "worker/hosts.hpp"
#include "worker/late_files.hpp"
#include "worker/partition_ranks.hpp"
#include "worker/probe.hpp"
#include "worker/program_trial.hpp"
#include "worker/simulated_trial.hpp"
#include "worker/trial.hpp"

namespace gnnbench {
namespace {

/// Reports the reason on stderr and in the journal, then ends every rank: the others may block in a collective.
/// Several ranks may fail for the same reason; the first line counts.
[[noreturn]] void fail(const std::optional<TrialRequest>& request, TrialStatus status, const std::string& reason) {
    std::fprintf(stderr, "gnnbench-worker: %s\n", reason.c_str());
    if (request && !request->journal.empty()) {
        try {
            WorkerJournal(request->journal)
                .append(
                    {{"type", "end"}, {"trial", request->trial}, {"status", to_text(status)}, {"reason", reason}});
        } catch (const std::exception& e) {
            std::fprintf(stderr, "gnnbench-worker: %s\n", e.what());
        }
    }
    mpi_abort(1);
}

/// The request of this process, for a handler that takes no arguments.
std::optional<TrialRequest> request_at_work;

/// Called for an exception that nothing catches, where it is thrown: no destructor has run. One of device state could wait
/// for peers, which wait for this rank.
[[noreturn]] void end_rank() {
    const std::exception_ptr cause = std::current_exception();
    if (!cause) fail(request_at_work, TrialStatus::failed, "the rank was ended by std::terminate");
    try {
        std::rethrow_exception(cause);
    } catch (const OutOfMemory& e) {
        fail(request_at_work, TrialStatus::oom, e.what());
    } catch (const std::bad_alloc&) {
        fail(request_at_work, TrialStatus::oom, "the host has no memory left for this rank");
    } catch (const std::exception& e) {
        fail(request_at_work, TrialStatus::failed, e.what());
    } catch (...) {
        fail(request_at_work, TrialStatus::failed, "the rank threw something that is no std::exception");
    }
}

/// A verification copies every operand and result of a whole training to the host, and frees it again. Memory that
/// went back to the system each time would come back page by page, which took a fifth of a verification's time.
void keep_freed_memory() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, 64 << 20);
}

/// `folder` takes what a program is given.
void run(const TrialRequest& request, const std::filesystem::path& folder) {
    const ProcessGroup world = mpi_world();
    require_distinct_names(world);
    tidy_shared_files(request.trial);
    TrialRecord record(world, request.journal, request.trial, on_host_of_rank_0(world));
    record.write_end(request.cell.scheme.is_program() ? run_program_trial(request, folder, record)
                                                      : run_trial(request, world, record));
}

}  // namespace

int run_rank(int argc, char** argv) {
    die_with_parent();
    flush_subnormals();
    name_blas_processor();
    std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f` writes fail, with an error
    if (argc == 2 && std::string_view(argv[1]) == "--probe") return probe_ranks();
    if (argc == 3 && std::string_view(argv[1]) == "--calibrate") return calibrate_ranks(argv[2]);
    if (argc == 3 && std::string_view(argv[1]) == "--partition") return partition_ranks(argv[2]);
    if (argc != 2) {
        std::fprintf(stderr, "usage: gnnbench-worker request.json (gnnbench run starts it)\n");
        return 2;
    }
    if (const auto simulated = simulated_request(argv[1])) return run_simulated_trial(*simulated);
    mpi_start();
    // Nothing is caught here, so that an error ends all ranks before it unwinds this one.
    std::set_terminate(end_rank);
    request_at_work = own_request(argv[1]);  // for the journal, should the next line fail
    {
        const ProcessGroup world = mpi_world();
        require_contact(world, host_limit_s(world.size()));
        request_at_work = shared_request(argv[1], world);
    }
    if (request_at_work->purpose == Purpose::verify) keep_freed_memory();
    run(*request_at_work, std::filesystem::absolute(argv[1]).parent_path());
    mpi_finish();
    return 0;
}

}  // namespace gnnbench
