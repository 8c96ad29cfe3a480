#include "run/progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/printable.hpp"

namespace gnnbench {

namespace {

bool stderr_is_terminal() {
    const char* kind = std::getenv("TERM");
    return isatty(STDERR_FILENO) && !(kind && std::string(kind) == "dumb");
}

/// The first columns of a line that a terminal shows without wrapping. Counts characters, not bytes.
std::string fitted(const std::string& line) {
    winsize size{};
    const std::size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    std::size_t shown = 0, at = 0;
    for (; at < line.size(); ++at) {
        const bool starts_character = (static_cast<unsigned char>(line[at]) & 0xc0) != 0x80;
        if (starts_character && ++shown >= columns) break;
    }
    return line.substr(0, at);
}

}  // namespace

Progress::Progress() : live_(stderr_is_terminal()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
}

void Progress::status(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    if (!live_ || (shown_ && now - last_ < std::chrono::milliseconds(150))) return;
    std::cerr << "\r\033[K" << fitted(printable(line)) << std::flush;
    shown_ = true;
    last_ = now;
}

void Progress::message(const std::string& line) {
    clear();
    std::cerr << printable(line) << '\n' << std::flush;
}

double Pace::left_s(double running_s) const {
    if (done_ == 0) return -1;
    const double each_s = spent_s_ / static_cast<double>(done_);
    return std::max(0.0, each_s * static_cast<double>(trials_ - done_) - std::min(running_s, each_s));
}

}  // namespace gnnbench
