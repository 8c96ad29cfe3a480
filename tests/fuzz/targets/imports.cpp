// Imports whose edges are sorted on disk, beside the same in memory. The first four characters choose format, memory and
// options; the rest is the file, or, for OGB's sets, several: a line "=NAME" begins each. An '@' stands for the number of
// lines that follow it in its file, so that what states its size stays right when lines are added.
#include "fuzz/both_ways.hpp"
#include "fuzz/targets/mutate.hpp"
#include "fuzz/targets/scratch.hpp"
#include "fuzz/targets/target.hpp"

#include <array>
#include <utility>

using namespace gnnbench;
using nlohmann::json;

namespace {

std::string counted(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '@')
            out += std::to_string(std::ranges::count(text.substr(i), '\n') - 1);
        else
            out += text[i];
    return out;
}

/// Files of a set by the letter that stands for them.
constexpr std::array<std::pair<char, const char*>, 9> ogb_files = {{{'n', "raw/num-node-list.csv"},
                                                                    {'m', "raw/num-edge-list.csv"},
                                                                    {'e', "raw/edge.csv"},
                                                                    {'w', "raw/edge-feat.csv"},
                                                                    {'f', "raw/node-feat.csv"},
                                                                    {'l', "raw/node-label.csv"},
                                                                    {'t', "split/s/train.csv"},
                                                                    {'v', "split/s/valid.csv"},
                                                                    {'s', "split/s/test.csv"}}};

/// In a new folder; a list of nodes or edges that is not there states as many as the other files have.
std::filesystem::path ogb_folder(const fuzz::Scratch& scratch, std::string_view text) {
    namespace fs = std::filesystem;
    const fs::path root = scratch.path() / "set";
    fs::remove_all(root);
    fs::create_directories(root / "raw");
    std::array<std::string, 256> files;
    std::array<bool, 256> there{};
    unsigned char now = 'e';
    for (const std::string_view line : fuzz::lines_of(text)) {
        if (line.starts_with('=')) {
            now = line.size() > 1 ? static_cast<unsigned char>(line[1]) : 'e';
            there[now] = true;
        } else {
            files[now] += line;
        }
    }
    const auto lines = [&](unsigned char name) { return std::ranges::count(files[name], '\n'); };
    if (!there['n']) files['n'] = std::to_string(there['f'] ? lines('f') : there['l'] ? lines('l') : 40) + "\n";
    if (!there['m']) files['m'] = std::to_string(lines('e')) + "\n";
    there['n'] = there['m'] = true;
    if (there['t']) fs::create_directories(root / "split/s");
    for (const auto& [letter, name] : ogb_files)
        if (const auto i = static_cast<unsigned char>(letter); there[i] && fs::exists((root / name).parent_path()))
            scratch.write(fs::path("set") / name, files[i]);
    return root;
}

json options_of(std::string_view format, unsigned a, unsigned b) {
    static constexpr std::array repeats = {"drop", "sum", "error"};
    json o = {{"features", 1}, {"classes", 2}, {"loops", a & 2 ? "drop" : "keep"}, {"reverse", (a & 4) != 0}};
    o["repeats"] = repeats[b % repeats.size()];
    const bool directed = a & 1, other = a & 8;
    if (format == "ogb") {
        o["directed"] = directed ? "true" : "false";
        o["weights"] = other ? "edge-feat" : "ignore";
        return o;
    }
    o["directed"] = directed;
    if (format == "edge-list") {
        o["weights"] = other ? "third" : a & 16 ? "ignore" : "auto";
        o["ids"] = b & 8 ? "keep" : "compact";
        o["skip_lines"] = b & 16 ? 1 : 0;
        return o;
    }
    o["weights"] = other ? "auto" : "ignore";
    if (format == "matrix-market") o["first_id"] = b & 8 ? 0 : 1;
    return o;
}

}  // namespace

GNNBENCH_FUZZ_MUTATOR(gnnbench::fuzz::mutated_text)

GNNBENCH_FUZZ_TARGET(text) {
    static constexpr std::array formats = {"matrix-market", "edge-list", "triples", "ogb"};
    static const fuzz::Scratch scratch;
    if (text.size() < 4) return;
    const auto choice = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) - unsigned{'0'}; };
    const std::string format = formats[choice(0) % formats.size()];
    const std::uint64_t little_bytes = (1 + choice(1) % 64) * std::uint64_t{400};
    const json options = options_of(format, choice(2), choice(3));
    text.remove_prefix(4);
    const auto input = format == "ogb" ? ogb_folder(scratch, text) : scratch.write("input", counted(text));
    const auto stores = scratch.path() / "stores";
    std::filesystem::create_directory(stores);
    test::import_both_ways(input, format, options, little_bytes, stores);
}
