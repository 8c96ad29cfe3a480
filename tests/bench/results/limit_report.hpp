#pragma once
#include <algorithm>
#include <chrono>
#include <string>

namespace gnnbench::bench {

template <class Do>
double seconds_of(Do work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The shortest of some rounds, in seconds.
template <class Do>
double best_s(int rounds, Do work) {
    double best = 1e300;
    for (int r = 0; r < rounds; ++r) best = std::min(best, seconds_of(work));
    return best;
}

/// Times beside the limits that they are to keep, in Markdown; also printed as they come.
class LimitReport {
public:
    void begin_table(const std::string& title);
    void paragraph(const std::string& text);
    void add(const std::string& what, double seconds, double limit_s, const std::string& beside);
    const std::string& text() const { return text_; }
    bool all_kept() const { return all_kept_; }

private:
    void write(const std::string& text);
    std::string text_;
    bool all_kept_ = true;
};

}  // namespace gnnbench::bench
