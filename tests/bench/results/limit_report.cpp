#include "results/limit_report.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace gnnbench::bench {

void LimitReport::write(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    text_ += text;
}

void LimitReport::paragraph(const std::string& text) { write(text + "\n\n"); }

void LimitReport::begin_table(const std::string& title) {
    write(fmt::format("{}## {}\n\n| what | ms | limit ms | kept | beside |\n| --- | --- | --- | --- | --- |\n",
                      text_.empty() || text_.ends_with("\n\n") ? "" : "\n", title));
}

void LimitReport::add(const std::string& what, double seconds, double limit_s, const std::string& beside) {
    const bool kept = seconds <= limit_s;
    write(fmt::format("| {} | {:.1f} | {:.0f} | {} | {} |\n", what, 1e3 * seconds, 1e3 * limit_s,
                      kept ? "yes" : "**NO**", beside));
    all_kept_ = all_kept_ && kept;
}

}  // namespace gnnbench::bench
