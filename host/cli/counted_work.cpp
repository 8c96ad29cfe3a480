#include "cli/counted_work.hpp"

#include <utility>

#include <fmt/format.h>

#include "report/format.hpp"

namespace gnnbench {

std::string how_far(const std::string& what, std::size_t begun, std::size_t most, double left_s) {
    return fmt::format("{} {} of at most {}{}", what, begun, most,
                       left_s < 0 ? "" : fmt::format("  about {} left", duration_text(left_s)));
}

CountedWork::CountedWork(Progress& progress, std::string what, std::size_t most)
    : progress_(progress), what_(std::move(what)), pace_(most) {}

void CountedWork::next(const std::string& label) {
    const auto now = Clock::now();
    if (begun_++ > 0) pace_.finished(std::chrono::duration<double>(now - last_begun_).count());
    last_begun_ = now;
    const std::string text = how_far(what_, begun_, pace_.trials(), pace_.left_s(0));
    progress_.status(text, "  " + label);
    if (progress_.live() || now - last_line_ < between_lines) return;
    progress_.message(text);
    last_line_ = now;
}

}  // namespace gnnbench
