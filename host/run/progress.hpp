#pragma once
#include <chrono>
#include <string>

namespace gnnbench {

/// How much of a command's progress is shown: --quiet, --verbose. `status`: the status line and problems.
enum class Verbosity { quiet, status, normal, verbose };
void set_verbosity(Verbosity wanted);
Verbosity verbosity();

/// A sweep's progress on stderr: a status line that is rewritten on a terminal, plain lines in a pipe.
class Progress {
public:
    explicit Progress(Verbosity shown = verbosity());
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Rewrites the status line, see status_line(); does nothing in a pipe.
    void status(const std::string& what, const std::string& how_far = "");
    /// Prints a permanent line above the status line; not with --quiet.
    void message(const std::string& line);
    /// The same of what went wrong, with --quiet too.
    void problem(const std::string& line);
    /// The same of what only --verbose shows.
    void detail(const std::string& line);
    bool live() const { return live_; }

private:
    void clear();
    void print(const std::string& line);
    Verbosity verbosity_;
    bool live_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_{};
};

/// A status line of fewer than `columns` columns: what runs, shortened, so that how far it is stays whole.
std::string status_line(const std::string& what, const std::string& how_far, std::size_t columns);

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
