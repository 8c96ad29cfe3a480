#pragma once
#include <chrono>
#include <string>

namespace gnnbench {

/// A sweep's progress on stderr: a status line that is rewritten on a terminal, plain lines in a pipe.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Rewrites the status line; does nothing in a pipe.
    void status(const std::string& line);
    /// Prints a permanent line above the status line.
    void message(const std::string& line);
    bool live() const { return live_; }

private:
    void clear();
    bool live_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_{};
};

/// A sweep's progress, and an estimate of the remaining time from the trials so far.
class Pace {
public:
    explicit Pace(std::size_t trials) : trials_(trials) {}
    void finished(double wall_s) {
        ++done_;
        spent_s_ += wall_s;
    }
    std::size_t done() const { return done_; }
    std::size_t trials() const { return trials_; }
    /// Seconds left if the rest takes as long as those done did, `running_s` into the current one; −1 where
    /// unknown.
    double left_s(double running_s) const;

private:
    std::size_t trials_, done_ = 0;
    double spent_s_ = 0;
};

}  // namespace gnnbench
