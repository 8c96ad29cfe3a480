#pragma once
/// Journal lines and places for tests of record and report.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/lines.hpp"

namespace gnnbench::samples {

/// A folder of its own under the system's temporary folder, removed at the end.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "gnnbench-record-XXXXXX").string();
        if (!::mkdtemp(name.data())) std::abort();
        path_ = name;
        std::filesystem::permissions(path_, std::filesystem::perms::all);  // children may drop to another user
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    std::filesystem::path operator/(const char* name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

/// Runs `body` in a process of its own; its exit code, or 128 + signal.
inline int in_child(const std::function<int()>& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        int code = 99;
        try {
            code = body();
        } catch (const std::exception& e) {
            (void)!::write(2, e.what(), std::strlen(e.what()));
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline CellRecord cell(const std::string& scheme, int gpus, const std::string& partitioner = "random",
                       const std::string& dataset = "ring") {
    const auto plugin = [](const std::string& name) -> nlohmann::json {
        return {{"name", name}, {"label", name}};
    };
    return {.digest = scheme + "-" + std::to_string(gpus) + "-" + partitioner + "-" + dataset,
            .identity = {{"dataset", {{"name", dataset}, {"digest", "d1"}}},
                         {"scheme", plugin(scheme)},
                         {"partitioner", plugin(partitioner)},
                         {"kernel", plugin("cpu")},
                         {"gpus", gpus},
                         {"threads_per_rank", 1},
                         {"precision", "float32"},
                         {"model", {{"layers", "gcn"}, {"widths", {64}}}},
                         {"train", {{"optimizer", "adam"}, {"lr", 0.01}, {"dropout", 0}}},
                         {"seed", 7},
                         {"epochs", 3},
                         {"warmup", 1},
                         {"slowdown", {{"label", "none"}}}},
            .verification_key = "v-" + scheme + "-" + std::to_string(gpus) + "-" + partitioner};
}

inline const nlohmann::json machine = {{"cpu", "Sample CPU"}, {"cores", 4}};

inline nlohmann::json trial(const std::string& uuid, const CellRecord& c, int number = 0,
                            const std::string& started = "2026-01-01T00:00:00.000Z") {
    return trial_line({.trial = uuid,
                       .experiment = "sample",
                       .cell = c,
                       .number = number,
                       .block = number,
                       .started = started,
                       .machine = machine,
                       .provenance = {{"build", "b1"}}});
}

inline nlohmann::json volume_row(std::int64_t sent, std::int64_t received, std::int64_t messages,
                                 const std::string& content = "payload") {
    return {{"operation", "broadcast"},
            {"content", content},
            {"sent_bytes", sent},
            {"received_bytes", received},
            {"messages", messages}};
}

/// Two ranks: rank 0 sends 100 bytes to rank 1. wall_s: of rank 0 and of rank 1.
inline nlohmann::json epoch(const std::string& uuid, int number, bool warmup, double wall0_s, double wall1_s,
                            nlohmann::json loss = 1.5) {
    const auto rank = [](double wall_s, nlohmann::json volume) -> nlohmann::json {
        return {{"wall_s", wall_s},
                {"phases", {{"spmm", wall_s / 2}, {"comm", wall_s / 4}, {"other", wall_s / 4}}},
                {"total_comm_s", wall_s / 3},
                {"peak_memory_bytes", 1000 + static_cast<int>(wall_s)},
                {"volume", nlohmann::json::array({std::move(volume)})}};
    };
    return {{"type", "epoch"},
            {"trial", uuid},
            {"epoch", number},
            {"warmup", warmup},
            {"loss", loss},
            {"ranks", {rank(wall0_s, volume_row(100, 0, 1)), rank(wall1_s, volume_row(0, 100, 1))}}};
}

/// What set-up took a rank: reading `read_s`, each other part less.
inline nlohmann::json setup_cost(double read_s) {
    return {{"read", {{"seconds", read_s}, {"bytes", 10}}},
            {"cut", {{"seconds", read_s / 2}, {"bytes", 20}}},
            {"exchange", {{"seconds", read_s / 4}, {"bytes", 30}}},
            {"prepare", {{"seconds", read_s / 8}, {"bytes", 40}}}};
}

inline nlohmann::json setup(const std::string& uuid) {
    return {
        {"type", "setup"},
        {"trial", uuid},
        {"seconds", {{"load", 0.1}, {"partition", 0.2}, {"build", 0.3}, {"total", 0.6}}},
        {"partition",
         {{"edge_cut", 4}, {"connectivity_minus_one", 3}, {"vertex_imbalance", 0.0}, {"nonzero_imbalance", 0.1}}},
        {"dataset",
         {{"vertices", 10}, {"edges", 20}, {"features", 4}, {"classes", 2}, {"synthetic", {"graph", "labels"}}}},
        {"aggregated_input", true},
        {"approximation", ""},
        {"stated", {{volume_row(100, 0, 1)}, {volume_row(0, 100, 1)}}},
        {"memory_bytes", {500, 600}},
        {"stated_memory_bytes", {480, 600}},
        {"cost", {setup_cost(0.5), setup_cost(0.25)}},
        {"host_peak_bytes", {7000, 8000}},
        {"notes", nlohmann::json::array()}};
}

inline nlohmann::json outcome(const std::string& uuid, const std::string& status = "ok",
                              const std::string& reason = "") {
    return outcome_line({.trial = uuid,
                         .status = trial_status(status),
                         .reason = reason,
                         .log_tail = "last words",
                         .ended = "2026-01-01T00:01:00.000Z",
                         .wall_s = 60});
}

/// A whole trial of two ranks: one warm-up epoch and three measured ones, whose slowest ranks take 2, 3 and 7 s.
inline std::vector<nlohmann::json> whole_trial(const std::string& uuid, const CellRecord& c, int number = 0) {
    return {
        trial(uuid, c, number),
        {{"type", "start"},
         {"trial", uuid},
         {"ranks", 2},
         {"hosts", {"a", "a"}},
         {"pids", {11, 12}},
         {"device", {"Sample CPU", "Sample CPU"}},
         {"mpi", "Open MPI 4.1.4"}},
        setup(uuid),
        epoch(uuid, 0, true, 50, 60, 9.0),
        epoch(uuid, 1, false, 1, 2),
        epoch(uuid, 2, false, 3, 1),
        epoch(uuid, 3, false, 7, 6, 0.25),
        {{"type", "evaluation"},
         {"trial", uuid},
         {"epoch", 3},
         {"train", 0.9},
         {"validation", nullptr},
         {"test", 0.8},
         {"wall_s", 0.01}},
        {{"type", "end"}, {"trial", uuid}, {"status", "ok"}, {"reason", ""}, {"host_peak_bytes", {9000, 7500}}},
        outcome(uuid)};
}

}  // namespace gnnbench::samples
