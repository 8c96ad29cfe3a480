#include "launch/gnuplot.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

#include <gnnbench/error.hpp>

#include "launch/child.hpp"

namespace gnnbench {

namespace fs = std::filesystem;

namespace {

std::string locate() {
    if (const char* given = std::getenv("GNNBENCH_GNUPLOT"); given && *given) return given;
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path program = fs::path(folder) / "gnuplot";
        std::error_code ignored;
        if (fs::is_regular_file(program, ignored) && access(program.c_str(), X_OK) == 0) return program;
    }
    throw EnvironmentError(
        "figures are drawn by gnuplot, which is not here; install it (Debian: gnuplot-nox) or name it with "
        "GNNBENCH_GNUPLOT");
}

/// A folder of its own, removed at the end.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "gnnbench-figure-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw EnvironmentError("cannot make a folder in " + fs::temp_directory_path().string());
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path operator/(const char* name) const { return path_ / name; }

private:
    fs::path path_;
};

}  // namespace

std::string run_gnuplot(const std::string& script) {
    const std::string gnuplot = locate();
    const Folder folder;
    const fs::path file = folder / "script.gp", drawing = folder / "drawing";
    std::ofstream(file) << "set output '" << drawing.string() << "'\n" << script << "\nset output\n";
    const ProgramOutput output = run_program({gnuplot, file.string()}, current_environment(), 60.0);
    std::ifstream in(drawing, std::ios::binary);
    std::string drawn{std::istreambuf_iterator<char>(in), {}};
    if (output.exit_code != 0 || drawn.empty())
        throw EnvironmentError("gnuplot (" + gnuplot + ") drew nothing: " + output.text);
    return drawn;
}

}  // namespace gnnbench
