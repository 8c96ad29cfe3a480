#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/wait.h>

#include <fmt/format.h>

#include "launch/trial.hpp"

namespace gnnbench {

namespace {

/// What launchers print when a signal ended a rank:
/// Open MPI "process rank 1 with PID 0 on node n exited on signal 9 (Killed)", Hydra "EXIT STRING: Killed (signal
/// 9)".
struct SignalInLog {
    int rank = -1, signal = 0;
};

/// The number that `text` begins with; -1 where there is none, or none that fits: ranks write to the log too.
int number_at(std::string_view text) {
    int number = -1;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return end.ec == std::errc() && number >= 0 ? number : -1;
}

/// The rank that `line` names first; -1 for none.
int rank_in(std::string_view line) {
    constexpr std::string_view word = "rank ";
    for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1))
        if (const int rank = number_at(line.substr(at + word.size())); rank >= 0) return rank;
    return -1;
}

SignalInLog signal_in(std::string_view log) {
    constexpr std::string_view exited = " exited on", signal = "signal ", ended = "EXIT STRING: ";
    for (std::size_t at = log.find(exited); at != log.npos; at = log.find(exited, at + 1)) {
        const std::size_t line = log.rfind('\n', at) + 1;
        const std::size_t next = log.find_first_not_of(" \t\n", at + exited.size());  // Open MPI 5 breaks the line
        if (next == log.npos || !log.substr(next).starts_with(signal)) continue;
        const SignalInLog found{rank_in(log.substr(line, at - line)), number_at(log.substr(next + signal.size()))};
        if (found.rank >= 0 && found.signal > 0) return found;
    }
    for (std::size_t at = log.find(ended); at != log.npos; at = log.find(ended, at + 1)) {
        const std::string_view line = log.substr(at, log.find('\n', at) - at);
        const std::size_t open = line.rfind("(signal ");
        if (open == line.npos) continue;
        if (const int number = number_at(line.substr(open + 8)); number > 0) return {-1, number};
    }
    return {};
}

std::string signal_text(int signal) {
    const char* name = sigabbrev_np(signal);
    return "signal " + std::to_string(signal) + (name ? std::string(" (SIG") + name + ")" : "");
}

/// Length of the UTF-8 sequence that starts at `at`, 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(at + i) & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates and code points beyond U+10FFFF.
    const unsigned char second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return length;
}

}  // namespace

namespace {

/// What launchers print about every failure, which says nothing of its cause.
bool says_nothing(std::string_view text) {
    constexpr std::array<std::string_view, 6> phrases{
        "Primary job  terminated normally",
        "detected that one or more processes exited with non-zero status",
        "detected that one or more processes exited on signal",
        "noticed that process rank",
        "MPI_ABORT was invoked",
        "NOTE: invoking MPI_ABORT"};
    return std::ranges::any_of(phrases, [&](std::string_view p) { return text.find(p) != text.npos; });
}

/// One line of at most 200 bytes, without blanks at line ends.
std::string in_one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool blank = c == '\n' || c == ' ' || c == '\t';
        if (!blank)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    while (line.ends_with(' ')) line.pop_back();
    constexpr std::size_t most = 200;
    if (const std::size_t stop = line.find(". "); stop < most) return line.substr(0, stop);
    return line.size() > most ? line.substr(0, line.rfind(' ', most)) + " …" : line;
}

/// The host that Open MPI's mpirun lost: "Remote daemon: [[1,0],1] on node h1"; empty if none.
std::string_view lost_host(std::string_view log) {
    constexpr std::string_view remote = "Remote daemon: ", node = " on node ";
    std::size_t at = log.find("lost communication with a remote daemon");
    if (at != log.npos) at = log.find(remote, at);
    if (at == log.npos) return {};
    const std::string_view line = log.substr(at, log.find('\n', at) - at);
    const std::size_t name = line.find(node);
    return name == line.npos ? std::string_view() : line.substr(name + node.size());
}

/// The last line before Open MPI's message that daemons did not start: what ssh said, which names host and cause.
std::string_view line_before(std::string_view log, std::string_view message) {
    const std::size_t rule = log.rfind("----", static_cast<std::size_t>(message.data() - log.data()));
    const std::size_t frame = rule == log.npos ? log.npos : log.rfind('\n', rule);
    if (frame == log.npos) return {};
    const std::string_view before = log.substr(0, log.find_last_not_of('\n', frame) + 1);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    return line.starts_with("----") ? std::string_view() : line;
}

}  // namespace

std::string launcher_words(std::string_view log) {
    // Open MPI frames each message by two lines of dashes.
    const std::string rule(60, '-');
    if (const std::string_view host = lost_host(log); !host.empty())
        return fmt::format("host {} does not answer any more: it went down, or the network to it did", host);
    bool inside = false;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find(rule, at), log.size());
        const std::string_view message = log.substr(at, end - at);
        if (inside && end < log.size() && !says_nothing(message)) {
            const std::string words = in_one_line(message);
            const std::string_view cause =
                words.starts_with("ORTE was unable") ? line_before(log, message) : std::string_view();
            return cause.empty() ? words : fmt::format("{} ({})", words, in_one_line(cause));
        }
        inside = !inside;
        at = std::min(log.find('\n', end), log.size());
    }
    for (const std::string_view mark : {"PMIX ERROR: ", "ORTE ERROR: ", "OPAL ERROR: ", "ORTE_ERROR_LOG: "})
        if (const std::size_t at = log.find(mark); at != log.npos)
            return in_one_line(log.substr(at, log.find('\n', at) - at));
    return {};
}

namespace {

std::string said_by_launcher(std::string_view log) {
    const std::string words = launcher_words(log);
    return words.empty() ? "" : "; the launcher said: " + words;
}

}  // namespace

LaunchEnd classify(const EndSigns& signs) {
    LaunchEnd end;
    end.log_tail = signs.log_tail;
    end.in_late_step = signs.in_late_step;
    const bool killed_launcher = WIFSIGNALED(signs.wait_status);
    end.exit_code = killed_launcher ? 0 : WEXITSTATUS(signs.wait_status);
    if (signs.interrupted) {
        end.status = TrialStatus::interrupted;
        end.reason = "interrupted by a signal to gnnbench";
        return end;
    }
    if (signs.timed_out) {
        end.status = TrialStatus::timeout;
        end.reason = fmt::format("no end after {:g} s, the {}; its processes were killed{}", signs.timeout_s,
                                 signs.in_late_step ? "limit of the step after the last epoch" : "trial's limit",
                                 said_by_launcher(signs.log_tail));
        return end;
    }
    if (!killed_launcher && end.exit_code == 0) {
        end.status = TrialStatus::ok;
        return end;
    }
    const SignalInLog in_log = signal_in(signs.log_tail);
    if (in_log.signal)
        end.signal = in_log.signal;
    else if (killed_launcher)
        end.signal = WTERMSIG(signs.wait_status);
    else if (end.exit_code > 128 && end.exit_code <= 128 + SIGRTMAX)
        end.signal = end.exit_code - 128;

    if (!end.signal) {
        end.status = TrialStatus::failed;
        end.reason = "exit code " + std::to_string(end.exit_code) + said_by_launcher(signs.log_tail);
        return end;
    }
    const std::string who = in_log.rank >= 0                    ? "rank " + std::to_string(in_log.rank)
                            : killed_launcher && !in_log.signal ? signs.program
                                                                : "a rank";
    const bool out_of_memory = end.signal == SIGKILL && signs.oom_killed;
    end.status = out_of_memory ? TrialStatus::oom : TrialStatus::crashed;
    end.reason = who + " was killed by " + signal_text(end.signal) +
                 (out_of_memory           ? ", sent by the kernel because memory ran out"
                  : end.signal == SIGXFSZ ? ", because a file grew beyond the limit on its size (ulimit -f)"
                                          : "");
    return end;
}

std::string tail_of(const std::string& path, std::size_t max_bytes) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) return {};
    const auto size = static_cast<std::size_t>(in.tellg());
    const std::size_t start = size > max_bytes ? size - max_bytes : 0;
    in.seekg(static_cast<std::streamoff>(start));
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (start > 0)
        if (const std::size_t line = text.find('\n'); line != std::string::npos) text.erase(0, line + 1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        const bool control =
            length == 1 && static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\n' && text[at] != '\t';
        if (length == 0 || control) text[at] = '?';
        at += length == 0 ? 1 : length;
    }
    return text;
}

}  // namespace gnnbench
