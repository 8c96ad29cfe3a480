#include "launch/gnuplot.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

std::string locate_gnuplot() {
    if (const char* given = std::getenv("GNNBENCH_GNUPLOT"); given && *given) return given;
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path program = fs::path(folder) / "gnuplot";
        std::error_code ignored;
        if (fs::is_regular_file(program, ignored) && access(program.c_str(), X_OK) == 0) return program;
    }
    throw EnvironmentError(
        "figures need gnuplot, which was not found; install it (Debian: gnuplot-nox) or name it with "
        "GNNBENCH_GNUPLOT");
}

}  // namespace

std::string run_gnuplot(const std::string& script) {
    const std::string gnuplot = locate_gnuplot();
    // The drawing goes to standard output: a path in the script would be read as gnuplot's language, which can run
    // commands.
    MemoryFile file("gnnbench-script");
    const MemoryFile drawing("gnnbench-drawing"), said("gnnbench-gnuplot");
    file.write(script + "\n");
    const int code =
        run_to_end({gnuplot, file.path()}, current_environment(), 60.0, drawing.descriptor(), said.descriptor());
    std::string drawn = drawing.text();
    if (code != 0 || drawn.empty())
        throw EnvironmentError("gnuplot (" + gnuplot + ") drew nothing: " + said.text());
    return drawn;
}

}  // namespace gnnbench
