#include <gnnbench/process_group.hpp>

#include <utility>

#include <gnnbench/error.hpp>
#include <gnnbench/transport.hpp>

namespace gnnbench {
namespace {

[[noreturn]] void needs_processes() {
    throw Unsupported(
        "needs MPI itself, for shared words or messages between two processes, which ranks that share a process "
        "do not have");
}

/// One process, which has all that it sends.
class LoneProcess final : public ProcessGroup::Implementation {
public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    std::unique_ptr<Implementation> split(int, int) const override { return std::make_unique<LoneProcess>(); }
    std::unique_ptr<Implementation> split_by_host() const override { return std::make_unique<LoneProcess>(); }
    void barrier() const override {}
    void broadcast(void*, std::size_t, int) const override {}
    std::vector<double> sum(std::vector<double> v) const override { return v; }
    std::vector<double> maximum(std::vector<double> v) const override { return v; }
    std::vector<std::string> gather(const std::string& text, int) const override { return {text}; }
    std::vector<std::string> all_gather(const std::string& text) const override { return {text}; }
};

}  // namespace

RemoteWords::~RemoteWords() = default;
Turns::~Turns() = default;
ProcessGroup::Implementation::~Implementation() = default;
std::unique_ptr<Transport> ProcessGroup::Implementation::host_transport() const { return nullptr; }
std::unique_ptr<RemoteWords> ProcessGroup::Implementation::remote_words(int, bool) const { needs_processes(); }
void ProcessGroup::Implementation::trade(int, std::span<const std::int64_t>, std::span<std::int64_t>) const {
    needs_processes();
}

ProcessGroup::ProcessGroup(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
ProcessGroup::ProcessGroup(ProcessGroup&&) noexcept = default;
ProcessGroup& ProcessGroup::operator=(ProcessGroup&&) noexcept = default;
ProcessGroup::~ProcessGroup() = default;

ProcessGroup ProcessGroup::alone() { return ProcessGroup(std::make_unique<LoneProcess>()); }

std::unique_ptr<Transport> ProcessGroup::host_transport() const { return implementation_->host_transport(); }

void* ProcessGroup::native() const {
    if (void* comm = implementation_->native()) return comm;
    needs_processes();
}

}  // namespace gnnbench
