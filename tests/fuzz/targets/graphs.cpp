// Graphs as text: the first character chooses the format, the rest is the file.
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/target.hpp"

#include <array>

#include <sys/mman.h>
#include <unistd.h>

#include <data/import.hpp>

using namespace gnnbench;

namespace {

/// One file in memory, which gets each input in turn.
class InputFile {
public:
    InputFile() : descriptor_(::memfd_create("graph", 0)), path_("/proc/self/fd/" + std::to_string(descriptor_)) {
        if (descriptor_ < 0) std::abort();
    }
    const std::string& with(std::string_view bytes) {
        if (::ftruncate(descriptor_, 0) != 0 ||
            ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
            std::abort();
        return path_;
    }

private:
    int descriptor_;
    std::string path_;
};

}  // namespace

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static constexpr std::array formats = {"matrix-market", "metis", "edge-list", "triples"};
    static InputFile file;
    if (text.empty()) return;
    // What is made up for a graph is little, so that a header that promises many vertices costs little.
    import_file(file.with(text.substr(1)), formats[static_cast<unsigned char>(text.front()) % formats.size()],
                {{"features", 1}, {"classes", 2}});
}
