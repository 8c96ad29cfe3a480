// A partition that another program wrote.
#include <gnnbench/error.hpp>
#include <gnnbench/part_file.hpp>
#include <gnnbench/partition.hpp>

namespace gnnbench {
namespace {

constexpr ParamDecl declared[] = {
    {"path", ParamType::path, "", 0, 0, nullptr, "the file"},
    {"format", ParamType::choice, "parts", 0, 0, "parts|sizes",
     "what it holds: the part of each vertex, or the vertices of each part"},
    {"first", ParamType::integer, "0", 0, 1, nullptr, "the number of the first part"},
};

class File final : public Partitioner {
public:
    std::string why_unsupported(const GraphSize&, const PartitionNeed& need, const Params& params) const override {
        if (params.text("path").empty()) return "expects the path of a part file: {name: file, path: …}";
        return why_not_alike(need);
    }

    Partition partition(const PartitionTask& task) const override {
        const std::string& path = task.params.text("path");
        const std::int64_t vertices = task.dataset.graph.vertices();
        if (task.params.choice("format") == "sizes") return read_size_file(path, task.need.parts, vertices);
        return read_part_file(path, task.need.parts, vertices, static_cast<Part>(task.params.integer("first")));
    }

    std::string outside_input(const Params& params) const override {
        return params.text("path").empty() ? "" : file_digest(params.text("path"));
    }
};

}  // namespace
}  // namespace gnnbench

GNNBENCH_PLUGIN(partitioner, gnnbench::File, "file", "1.0.0",
                "a partition from a file: METIS' .part, PaToH's part vectors, Graph-VB's sizes",
                gnnbench::declared)
