// Failures that a test asks for: a call of CUDA's or its libraries' reports an error from some time on, on one rank or all.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

// The deprecated C++ bindings do not compile cleanly and are not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "emulated.hpp"

namespace emulated {
namespace {

struct Failure {
    std::string call;
    long from = 0;
    int rank = -1;       ///< -1: every rank
    bool kills = false;  ///< the process, instead of an error
};

/// What the variable says; a test that spells it wrong must not pass.
Failure asked(const std::string& text) {
    if (text.empty()) return {};
    Failure f;
    std::string rest = text;
    f.kills = rest.starts_with("kill:");
    if (f.kills) rest.erase(0, 5);
    char call[64] = "";
    if (std::sscanf(rest.c_str(), "%63[A-Za-z_]:%ld:%d", call, &f.from, &f.rank) < 2)
        broken("GNNBENCH_EMULATED_FAILURE=%s: expected [kill:]CALL:NUMBER[:RANK]", text.c_str());
    f.call = call;
    return f;
}

int this_rank() {
    int started = 0, rank = 0;
    MPI_Initialized(&started);
    if (started) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

}  // namespace

bool fails(const char* call) {
    static std::string known;
    static Failure failure;
    static long calls = 0;
    const char* text = std::getenv("GNNBENCH_EMULATED_FAILURE");
    if (const std::string now = text ? text : ""; now != known) {
        known = now;
        failure = asked(known);
        calls = 0;
    }
    if (failure.call != call || ++calls < failure.from) return false;
    if (failure.rank >= 0 && failure.rank != this_rank()) return false;
    if (failure.kills) std::raise(SIGKILL);
    return true;
}

}  // namespace emulated
