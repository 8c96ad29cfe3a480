// A partitioner that is a program of its own: writes the graph to a file, runs the program, reads its part file.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <gnnbench/error.hpp>
#include <gnnbench/part_file.hpp>
#include <gnnbench/partition.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "graph_file.hpp"
#include "program.hpp"

namespace gnnbench::command {
namespace {

constexpr ParamDecl declared[] = {
    {"program", ParamType::program, "", 0, 0, nullptr, "the executable"},
    {"arguments", ParamType::text, "{graph} {parts}", 0, 0, nullptr,
     "separated by blanks; {graph}, {output}, {parts}, {imbalance}, {seed} and {threads} are replaced"},
    {"format", ParamType::choice, "metis", 0, 0, "metis|hmetis|patoh",
     "of the file it reads: the undirected graph, or the column-net hypergraph"},
    {"weights", ParamType::choice, "nonzeros", 0, 0, "none|nonzeros", "what vertices weigh in that file"},
    {"output", ParamType::text, "{graph}.part.{parts}", 0, 0, nullptr, "the part file it writes"},
    {"first", ParamType::integer, "0", 0, 1, nullptr, "the number of the first part in it"},
    {"imbalance", ParamType::real, "0.01", 0, 1, nullptr,
     "for {imbalance}: how much heavier than the mean a part may be"},
    {"seed", ParamType::integer, "-1", -1, 2147483647, nullptr, "for {seed}; -1: the cell's seed"},
    {"limit_s", ParamType::real, "3600", 0.1, 1e6, nullptr, "seconds until the program is ended"},
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

int usable_cores() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// The words that are replaced, with what replaces them.
using Words = std::vector<std::pair<std::string, std::string>>;

std::string filled(std::string text, const Words& words) {
    for (const auto& [word, value] : words)
        for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
            text.replace(at, word.size(), value);
    return text;
}

class Command final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed& need, const Params& params) const override {
        if (params.text("program").empty()) return "expects a program: {name: command, program: …, arguments: …}";
        return why_not_alike(need);
    }

    Partition partition(const PartitionTask& task) const override {
        const Params& p = task.params;
        const std::string& program = p.text("program");
        if (access(program.c_str(), X_OK) != 0 || std::filesystem::is_directory(program))
            throw DataError(fmt::format("{} is not a program that can be run", program));
        const TemporaryFolder folder("partition");
        const auto graph = folder.path() / "graph";
        write_graph(graph, p.choice("format"), task.dataset.graph, p.choice("weights") == "nonzeros");

        const std::int64_t own = p.integer("seed");
        const auto seed = own < 0 ? task.seed : static_cast<std::uint64_t>(own);
        Words words = {{"{graph}", graph.string()},
                       {"{parts}", std::to_string(task.need.parts)},
                       {"{imbalance}", fmt::format("{}", p.real("imbalance"))},
                       {"{seed}", std::to_string(seed & 0x7fffffff)},
                       {"{threads}", std::to_string(usable_cores())}};
        const std::filesystem::path output = folder.path() / filled(p.text("output"), words);
        words.emplace_back("{output}", output.string());
        std::vector<std::string> call = {program};
        for (const std::string& word : words_of(p.text("arguments"))) call.push_back(filled(word, words));
        run_program(call, folder.path(), p.real("limit_s"));
        if (!std::filesystem::exists(output))
            throw DataError(fmt::format("{} ended well, but wrote no {}{}", program, output.filename().string(),
                                        last_lines(folder.path())));
        return read_part_file(output, task.need.parts, task.dataset.graph.vertices(),
                              static_cast<Part>(p.integer("first")));
    }

    /// Digest of the program's file and of those that its arguments name.
    std::string outside_input(const Params& params) const override {
        if (params.text("program").empty()) return {};
        std::string digests = file_digest(params.text("program"));
        std::error_code ignored;
        for (const std::string& word : words_of(params.text("arguments")))
            if (std::filesystem::is_regular_file(word, ignored)) digests += file_digest(word);
        return fmt::format("{:016x}", XXH3_64bits(digests.data(), digests.size()));
    }
};

}  // namespace
}  // namespace gnnbench::command

GNNBENCH_PLUGIN(partitioner, gnnbench::command::Command, "command", "1.0.0",
                "runs a program that reads a METIS, hMETIS or PaToH file and writes a part file",
                gnnbench::command::declared)
