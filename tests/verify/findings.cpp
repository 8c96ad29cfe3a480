#include "verify/findings.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "launch/machine.hpp"

namespace gnnbench::verify {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::array<const char*, 4> standing_names = {"runs", "alike", "refused", "approximate"};

json to_json(const Finding& f) {
    return {{"type", "cell"},
            {"ranks", f.ranks},
            {"graph", f.graph},
            {"layers", f.layers},
            {"strategy", f.strategy},
            {"changed", f.changed},
            {"partitioner", f.partitioner},
            {"standing", standing_names[static_cast<std::size_t>(f.standing)]},
            {"reason", f.reason},
            {"problem", f.problem},
            {"rounding", f.rounding},
            {"float64_error", f.float64_error},
            {"loss_error", f.loss_error},
            {"gradient_error", f.gradient_error},
            {"connectivity", f.connectivity},
            {"wall_s", f.wall_s}};
}

Finding finding_from(const json& j) {
    Finding f;
    f.ranks = j.at("ranks");
    f.graph = j.at("graph");
    f.layers = j.at("layers");
    f.strategy = j.at("strategy");
    f.changed = j.at("changed");
    f.partitioner = j.at("partitioner");
    const auto standing =
        std::find(standing_names.begin(), standing_names.end(), j.at("standing").get<std::string>());
    f.standing = static_cast<Standing>(standing - standing_names.begin());
    f.reason = j.at("reason");
    f.problem = j.at("problem");
    // JSON has no infinity: an error without bound is null.
    const auto number = [&](const char* key) { return j.at(key).is_null() ? INFINITY : j.at(key).get<double>(); };
    f.rounding = j.value("rounding", "");
    f.float64_error = number("float64_error");
    f.loss_error = number("loss_error");
    f.gradient_error = number("gradient_error");
    f.connectivity = j.at("connectivity");
    f.wall_s = j.at("wall_s");
    return f;
}

fs::path file_of(const fs::path& folder, int ranks) { return folder / fmt::format("ranks-{:02}.jsonl", ranks); }

LaunchFindings read_launch(const fs::path& path) {
    LaunchFindings launch;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line) && !in.eof();) {  // a last line without an end is half written
        const json j = json::parse(line);
        const std::string type = j.at("type");
        if (type == "launch") {
            launch.ranks = j.at("ranks");
            launch.mpi = j.at("mpi");
            launch.commit = j.at("commit");
            launch.build = j.value("build", "");
        } else if (type == "absent") {
            launch.absent.push_back({j.at("graph"), j.at("reason")});
        } else if (type == "cell") {
            launch.cells.push_back(finding_from(j));
        } else if (type == "end") {
            launch.wall_s = j.at("wall_s");
            launch.complete = true;
        }
    }
    return launch;
}

}  // namespace

std::string Finding::name() const {
    return fmt::format("{}{}, {}, {}, {}, {} rank{}", strategy, changed.empty() ? "" : " (" + changed + ")",
                       layers, graph, partitioner, ranks, ranks == 1 ? "" : "s");
}

std::vector<Finding> findings_so_far(const fs::path& folder, int ranks) {
    try {
        LaunchFindings before = read_launch(file_of(folder, ranks));
        if (before.build == build_info().digest && !before.build.empty()) return std::move(before.cells);
    } catch (const json::exception&) {  // no findings of this build
    }
    return {};
}

FindingsFile::FindingsFile(const fs::path& folder, int ranks, const std::string& mpi,
                           const std::vector<AbsentGraph>& absent)
    : path_(file_of(folder, ranks)) {
    fs::create_directories(folder);
    fs::remove(path_);
    write({{"type", "launch"},
           {"ranks", ranks},
           {"mpi", mpi},
           {"commit", build_info().commit},
           {"build", build_info().digest}});
    for (const AbsentGraph& a : absent) write({{"type", "absent"}, {"graph", a.name}, {"reason", a.reason}});
}

void FindingsFile::add(const Finding& finding) { write(to_json(finding)); }
void FindingsFile::finish(double wall_s) { write({{"type", "end"}, {"wall_s", wall_s}}); }

void FindingsFile::write(const json& line) {
    std::ofstream out(path_, std::ios::app);
    out << line.dump() << '\n';
    if (!out.flush())
        throw EnvironmentError(
            fmt::format("cannot write {}: is the folder writable and the disk not full?", path_.string()));
}

std::vector<LaunchFindings> read_findings(const fs::path& folder) {
    std::vector<LaunchFindings> launches;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().extension() != ".jsonl") continue;
        try {
            launches.push_back(read_launch(entry.path()));
        } catch (const json::exception& e) {
            throw DataError(fmt::format("{} holds no findings: {}", entry.path().string(), e.what()));
        }
    }
    if (launches.empty())
        throw DataError(fmt::format("there are no findings in {}; verify_product run --out {} makes them",
                                    folder.string(), folder.string()));
    std::sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
    return launches;
}

}  // namespace gnnbench::verify
