#include <data/removed_on_signal.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gnnbench {

namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
char folder_path[4096];
std::array<struct sigaction, signals.size()> before;
volatile std::sig_atomic_t in_use = 0;

/// An entry as the system call getdents64 writes it: readdir may not be called in a signal's handler, as it allocates.
struct Listed {
    std::uint64_t number;
    std::int64_t next;
    unsigned short bytes;
    unsigned char type;
    char name[1];
};

void remove_files() {
    const int folder = ::open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    alignas(Listed) static char buffer[8192];
    for (long got; (got = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const Listed*>(buffer + at);
            ::unlinkat(folder, entry->name, 0);  // refuses "." and ".."
            at += entry->bytes;
        }
    ::close(folder);
    ::rmdir(folder_path);
}

extern "C" void remove_and_end(int signal) {
    remove_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

RemovedOnSignal::RemovedOnSignal(const std::filesystem::path& folder) {
    const std::string& path = folder.native();
    if (in_use || path.size() >= sizeof folder_path) return;
    std::memcpy(folder_path, path.c_str(), path.size() + 1);
    in_use = 1;
    active_ = true;
    struct sigaction remove{};
    remove.sa_handler = remove_and_end;
    sigemptyset(&remove.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
        ::sigaction(signals[i], nullptr, &before[i]);
        if (before[i].sa_handler == SIG_DFL) ::sigaction(signals[i], &remove, nullptr);
    }
}

RemovedOnSignal::~RemovedOnSignal() {
    if (!active_) return;
    for (std::size_t i = 0; i < signals.size(); ++i)
        if (before[i].sa_handler == SIG_DFL) ::sigaction(signals[i], &before[i], nullptr);
    in_use = 0;
}

}  // namespace gnnbench
