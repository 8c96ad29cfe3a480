// A worker that trains nothing: it writes the lines that a worker writes, an epoch every few milliseconds, and notes
// in a ledger what the journal has taken. So a test can kill hosts hundreds of times and know what must not be lost.
//   usage (as a worker): standin_worker REQUEST      GNNBENCH_LEDGER: the file; GNNBENCH_STANDIN_MS: milliseconds an epoch
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launch/die_with_parent.hpp"
#include "record/journal.hpp"
#include "worker/request.hpp"

using namespace gnnbench;
using nlohmann::json;

namespace {

void note(const std::string& line) {
    const char* path = std::getenv("GNNBENCH_LEDGER");
    if (!path) return;
    const FileDescriptor file(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    const std::string text = line + "\n";
    if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

json epoch_line(const TrialRequest& request, std::int64_t epoch) {
    json ranks = json::array();
    for (int r = 0; r < request.cell.gpus; ++r)
        ranks.push_back({{"wall_s", 0.002},
                         {"phases", {{"spmm", 0.001}, {"other", 0.001}}},
                         {"total_comm_s", 0.0},
                         {"peak_memory_bytes", 1000},
                         {"volume", json::array()}});
    return {{"type", "epoch"}, {"trial", request.trial}, {"epoch", epoch}, {"warmup", epoch < request.cell.warmup},
            {"loss", 1.0},     {"ranks", ranks}};
}

}  // namespace

int main(int, char** argv) {
    die_with_parent();
    const TrialRequest request = read_request(argv[1]);
    const char* ms = std::getenv("GNNBENCH_STANDIN_MS");
    const auto pause_us = static_cast<useconds_t>(1000 * std::atoi(ms ? ms : "4"));
    WorkerJournal journal(request.journal);
    const int ranks = request.cell.gpus;
    note(fmt::format("begin {} {}", request.trial, cell_digest(request.cell)));
    journal.append({{"type", "start"},
                    {"trial", request.trial},
                    {"ranks", ranks},
                    {"mpi", "none"},
                    {"hosts", std::vector<std::string>(static_cast<std::size_t>(ranks), "here")},
                    {"pids", std::vector<int>(static_cast<std::size_t>(ranks), getpid())},
                    {"device", std::vector<std::string>(static_cast<std::size_t>(ranks), "none")}});
    for (std::int64_t epoch = 0; epoch < request.cell.warmup + request.cell.epochs; ++epoch) {
        usleep(pause_us);
        journal.append(epoch_line(request, epoch));
        note(fmt::format("epoch {} {}", request.trial, epoch));
    }
    journal.append({{"type", "end"}, {"trial", request.trial}, {"status", "ok"}, {"reason", ""}});
    return 0;
}
