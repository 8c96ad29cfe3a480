#include "graph_file.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include <gnnbench/error.hpp>
#include <gnnbench/undirected.hpp>

namespace gnnbench::command {
namespace {

/// A text file, written in pieces.
class Text {
public:
    explicit Text(const std::filesystem::path& file) : file_(file), out_(file, std::ios::binary) {}

    template <class... Args>
    void add(fmt::format_string<Args...> form, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Args>(args)...);
        if (text_.size() > most) flush();
    }
    void close() {
        flush();
        out_.close();
        if (!out_)
            throw EnvironmentError(
                fmt::format("cannot write {} for another program: is the disk full?", file_.string()));
    }

private:
    static constexpr std::size_t most = std::size_t{1} << 20;
    void flush() {
        out_.write(text_.data(), std::ssize(text_));
        text_.clear();
    }

    std::filesystem::path file_;
    std::ofstream out_;
    std::string text_;
};

void write_metis(Text& text, const GraphView& graph, bool weighted) {
    const Undirected undirected(graph);
    std::int64_t entries = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v) entries += undirected.degree(v);
    const auto weights = weighted ? row_nonzeros(graph) : std::vector<std::int64_t>();
    text.add("{} {}{}\n", graph.vertices(), entries / 2, weighted ? " 010" : "");
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
        if (weighted) text.add("{}", weights[usize(v)]);
        undirected.neighbours(v, [&](std::int32_t u) { text.add(" {}", u + 1); });
        text.add("\n");
    }
}

/// Net j of the column-net hypergraph: the rows of Â with an entry in column j; j is one of them.
void write_nets(Text& text, const GraphView& graph, std::int32_t first) {
    const Transposed columns(graph);
    for (std::int64_t j = 0; j < graph.vertices(); ++j) {
        text.add("{}", j + first);
        for (const std::int32_t row : columns.row(j))
            if (row != j) text.add(" {}", row + first);
        text.add("\n");
    }
}

}  // namespace

void write_graph(const std::filesystem::path& file, const std::string& format, const GraphView& graph,
                 bool weighted) {
    Text text(file);
    if (format == "metis") {
        write_metis(text, graph, weighted);
        return text.close();
    }
    const std::int64_t n = graph.vertices();
    const std::vector<std::int64_t> weights = row_nonzeros(graph);
    if (format == "hmetis") {
        text.add("{} {}{}\n", n, n, weighted ? " 10" : "");
    } else {
        std::int64_t pins = 0;  // as many as Â has nonzeros
        for (const std::int64_t w : weights) pins += w;
        text.add("0 {} {} {}{}\n", n, n, pins, weighted ? " 1" : "");
    }
    write_nets(text, graph, format == "hmetis" ? 1 : 0);
    if (weighted)
        for (const std::int64_t w : weights) text.add("{}\n", w);
    text.close();
}

}  // namespace gnnbench::command
