#include "run/progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/printable.hpp"
#include "report/format.hpp"

namespace gnnbench {

namespace {

Verbosity asked_verbosity = Verbosity::normal;  // set before any thread starts

bool stderr_is_terminal() {
    const char* kind = std::getenv("TERM");
    return isatty(STDERR_FILENO) && !(kind && std::string(kind) == "dumb");
}

std::size_t stderr_columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

void set_verbosity(Verbosity wanted) { asked_verbosity = wanted; }

Verbosity verbosity() { return asked_verbosity; }

std::string status_line(const std::string& what, const std::string& how_far, std::size_t columns) {
    constexpr std::size_t least = 12;  // of what runs
    const std::size_t most = columns > 0 ? columns - 1 : 0, tail = display_width(how_far);
    const std::size_t left = most > tail ? most - tail : 0;
    return shortened(shortened(what, std::max(left, least)) + how_far, most);
}

Progress::Progress(Verbosity shown)
    : verbosity_(shown), live_(stderr_is_terminal() && shown != Verbosity::quiet) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
}

void Progress::status(const std::string& what, const std::string& how_far) {
    const auto now = std::chrono::steady_clock::now();
    if (!live_ || (shown_ && now - last_ < std::chrono::milliseconds(150))) return;
    std::cerr << "\r\033[K" << status_line(printable(what), printable(how_far), stderr_columns()) << std::flush;
    shown_ = true;
    last_ = now;
}

void Progress::print(const std::string& line) {
    clear();
    std::cerr << printable(line) << '\n' << std::flush;
}

void Progress::message(const std::string& line) {
    if (verbosity_ >= Verbosity::normal) print(line);
}

void Progress::problem(const std::string& line) { print(line); }

void Progress::detail(const std::string& line) {
    if (verbosity_ == Verbosity::verbose) print(line);
}

double Pace::left_s(double running_s) const {
    if (done_ == 0) return -1;
    const double each_s = spent_s_ / static_cast<double>(done_);
    return std::max(0.0, each_s * static_cast<double>(trials_ - done_) - std::min(running_s, each_s));
}

}  // namespace gnnbench
