#include "launch/environment.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <pwd.h>
#include <sys/uio.h>
#include <unistd.h>

namespace gnnbench {

namespace {

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

void set(Environment& variables, std::string_view name, std::string_view value) {
    std::erase_if(variables, [&](const std::string& v) { return name_of(v) == name; });
    variables.push_back(std::string(name) + '=' + std::string(value));
}

bool is_given(const Environment& variables, std::string_view name) {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const std::string& v) { return name_of(v) == name; });
}

void set_unless_given(Environment& variables, std::string_view name, std::string_view value) {
    if (!is_given(variables, name)) variables.push_back(std::string(name) + '=' + std::string(value));
}

/// Containers often forbid reading another process's memory, and Open MPI then prints an error for every message.
bool may_read_other_processes() {
    char from = 0, to = 0;
    const iovec local{&to, 1}, remote{&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

#ifdef GNNBENCH_LOOPBACK
/// The library that keeps mpirun's port from other interfaces; empty where there is none, or its path cannot be written
/// in LD_PRELOAD.
std::string loopback_library() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string library = (program.parent_path().parent_path() / "lib" / GNNBENCH_LOOPBACK).string();
    return error || access(library.c_str(), R_OK) != 0 || library.find_first_of(": ") != std::string::npos
               ? ""
               : library;
}
#else
std::string loopback_library() { return {}; }
#endif

/// Keeps all that listens on this host (docs/decisions/loopback-only.md), unless the user chose the transports: over
/// TCP, ranks connect to an address of another interface than the one that they would then listen on.
void keep_on_this_host(Environment& variables, const Mpiexec& mpiexec) {
    if (is_given(variables, "OMPI_MCA_btl")) {
        // Open MPI 4 chooses UCX's one-sided operations even where UCX has no device, and then makes no window.
        if (mpiexec.version.starts_with("Open MPI 4.")) set_unless_given(variables, "OMPI_MCA_osc", "^ucx");
        return;
    }
    set(variables, "OMPI_MCA_btl", "^tcp,openib,ofi");
    const std::string library = mpiexec.version.starts_with("Open MPI 4.") ? loopback_library() : "";
    if (library.empty()) return;
    std::string preloaded = library;
    for (const std::string& v : variables)
        if (name_of(v) == "LD_PRELOAD" && v.size() > std::string_view("LD_PRELOAD=").size())
            preloaded += ':' + v.substr(v.find('=') + 1);
    set(variables, "LD_PRELOAD", preloaded);
}

void add_open_mpi(Environment& variables, const RankLoad& load, std::string_view shared_folder) {
    if (geteuid() == 0) {
        set_unless_given(variables, "OMPI_ALLOW_RUN_AS_ROOT", "1");
        set_unless_given(variables, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // Bound to one core, a rank's threads would share it; the same for all trials, so that they compare.
    set_unless_given(variables, "OMPI_MCA_hwloc_base_binding_policy", "none");
    // Our cores are logical processors; else two siblings, to which a trial may be bound, would be a slot for one rank.
    set_unless_given(variables, "OMPI_MCA_hwloc_base_use_hwthreads_as_cpus", "1");
    if (load.ranks > load.cores) set_unless_given(variables, "OMPI_MCA_rmaps_base_oversubscribe", "1");
    if (load.oversubscribed()) set_unless_given(variables, "OMPI_MCA_mpi_yield_when_idle", "1");
    // By itself mpirun takes 8 minutes to notice that a host is gone, or its network, and ranks wait for it until then.
    set_unless_given(variables, "OMPI_MCA_oob_tcp_keepalive_time", "20");
    set_unless_given(variables, "OMPI_MCA_oob_tcp_keepalive_intvl", "5");
    set_unless_given(variables, "OMPI_MCA_oob_tcp_keepalive_probes", "4");
    if (!shared_folder.empty()) {
        set_unless_given(variables, "OMPI_MCA_orte_tmpdir_base", shared_folder);
        set_unless_given(variables, "OMPI_MCA_btl_vader_backing_directory", shared_folder);
    }
    if (!may_read_other_processes())
        set_unless_given(variables, "OMPI_MCA_btl_vader_single_copy_mechanism", "none");
}

}  // namespace

bool marks_a_rank(std::string_view name) {
    // Settings of users, which Open MPI 5 passes to no rank.
    if (name.starts_with("PRTE_MCA_") || name.starts_with("PMIX_MCA_")) return false;
    constexpr std::array prefixes = {"OMPI_COMM_WORLD_",
                                     "OMPI_UNIVERSE_SIZE",
                                     "OMPI_APP_CTX_",
                                     "OMPI_NUM_APP_CTX",
                                     "OMPI_FIRST_RANKS",
                                     "OMPI_REQUESTED_",
                                     "OMPI_ARGV",
                                     "OMPI_COMMAND",
                                     "OMPI_FILE_LOCATION",
                                     "OMPI_MCA_orte_",
                                     "OMPI_MCA_ess",
                                     "OMPI_MCA_pmix",
                                     "OMPI_MCA_initial_wdir",
                                     "OMPI_MCA_shmem_RUNTIME",
                                     "OMPI_MCA_mpi_oversubscribe",
                                     "PMIX_",
                                     "PMI_",
                                     "PRTE_",
                                     "ORTE_",
                                     "HYDI_",
                                     "HYDRA_",
                                     "MPI_LOCALRANKID",
                                     "MPI_LOCALNRANKS",
                                     "MPIR_CVAR_CH3_INTERFACE"};
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Environment trial_environment(const Environment& ours, const Mpiexec& mpiexec, const RankLoad& load,
                              std::string_view trial, std::string_view shared_folder) {
    Environment result;
    for (const std::string& variable : ours)
        if (!marks_a_rank(name_of(variable))) result.push_back(variable);
    set(result, trial_token, trial);
    const std::string threads = std::to_string(load.threads_per_rank);
    for (std::string_view name :
         {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"})
        set(result, name, threads);
    set(result, "OMP_DYNAMIC", "false");
    // Spinning threads would take cores from the ranks that they wait for.
    if (load.oversubscribed()) {
        set_unless_given(result, "OMP_WAIT_POLICY", "passive");
        set_unless_given(result, "GNNBENCH_YIELD", "sleep");  // host/worker/waits.cpp, yield.cpp
    }
    add_home(result);
    if (mpiexec.flavour == MpiFlavour::open_mpi) add_open_mpi(result, load, shared_folder);
    return result;
}

Environment local_trial_environment(const Environment& ours, const Mpiexec& mpiexec, const RankLoad& load,
                                    std::string_view trial, std::string_view shared_folder) {
    Environment result = trial_environment(ours, mpiexec, load, trial, shared_folder);
    if (mpiexec.flavour != MpiFlavour::open_mpi) return result;
    // Open MPI 4 does not start without a program that reaches other hosts, also where it never calls it.
    set_unless_given(result, "OMPI_MCA_plm_rsh_agent", "ssh : rsh : true");
    keep_on_this_host(result, mpiexec);
    return result;
}

/// Open MPI 4 crashes for a user without a home. "/" holds no settings of others, unlike a folder that all may write.
void add_home(Environment& variables) {
    if (!is_given(variables, "HOME") && !getpwuid(getuid())) variables.emplace_back("HOME=/");
}

Environment current_environment() {
    Environment result;
    for (char** variable = environ; *variable; ++variable) result.emplace_back(*variable);
    return result;
}

}  // namespace gnnbench
