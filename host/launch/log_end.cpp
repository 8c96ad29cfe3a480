#include "launch/log_end.hpp"

#include <csignal>
#include <cstring>

#include "launch/pattern.hpp"
#include "launch/placeholders.hpp"

namespace gnnbench {

namespace {

/// Ranks that ended, and how: the first that were not terminated, because another's end terminates the rest and may be
/// told later; else the first.
struct RanksEnd {
    std::string ranks, how;
    bool by_signal() const { return !ranks.empty() && !how.starts_with("Exited"); }
};
RanksEnd ranks_end_in(const std::string& pattern, const std::string& log) {
    RanksEnd first;
    if (pattern.empty()) return first;
    for (const Match& m : matches_of(pattern, log)) {
        RanksEnd found{m.at("ranks"), m.at("how")};
        while (found.how.ends_with(' ')) found.how.pop_back();
        if (found.how != "Terminated") return found;
        if (first.ranks.empty()) first = found;
    }
    return first;
}

/// The signal that a message names; 0: none.
int signal_named(const std::string& how) {
    for (int signal = 1; signal < NSIG; ++signal)
        if (const char* name = ::strsignal(signal); name && how == name) return signal;
    return 0;
}

}  // namespace

LaunchEnd classify_start(const LauncherDeclaration::Start& start, const EndSigns& reported) {
    EndSigns signs = reported;
    const RanksEnd ranks = ranks_end_in(start.ended, signs.log_tail);
    // The launcher's own code may be that of ranks which it terminated when one of them crashed.
    if (signs.wait_status == (128 + SIGTERM) << 8)
        if (const int own = signal_named(ranks.how); own > 0) signs.wait_status = (128 + own) << 8;
    LaunchEnd end = classify(signs);
    if (end.status != TrialStatus::failed && end.status != TrialStatus::crashed && end.status != TrialStatus::oom)
        return end;
    for (const LauncherDeclaration::Sign& sign : start.signs) {
        const std::string line = line_found(sign.find, signs.log_tail);
        if (line.empty() || (!sign.unless.empty() && is_found(sign.unless, signs.log_tail))) continue;
        end.reason = filled_text(sign.says, {{"reason", {end.reason}}}) + without_prefix(start.prefix, line);
        end.status = sign.means;
        return end;
    }
    constexpr std::string_view anybody = "a rank was killed";
    if (end.status == TrialStatus::crashed && ranks.by_signal() && end.reason.starts_with(anybody))
        end.reason = (ranks.ranks.find_first_of(",-") == std::string::npos ? "rank " + ranks.ranks + " was"
                                                                           : "ranks " + ranks.ranks + " were") +
                     end.reason.substr(anybody.find(" killed"));
    return end;
}

bool waits_for_resources(const LauncherDeclaration::Start& start, const std::string& log) {
    for (const LauncherDeclaration::Wait& wait : start.waits) {
        const std::size_t from = log.rfind(wait.from), until = log.rfind(wait.until);
        if (from != std::string::npos && (until == std::string::npos || from > until)) return true;
    }
    return false;
}

}  // namespace gnnbench
