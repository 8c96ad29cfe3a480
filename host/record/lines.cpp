#include "record/lines.hpp"

#include <sys/random.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {

using nlohmann::json;

json cell_to_json(const CellRecord& c) {
    return {{"cell", c.identity},
            {"cell_digest", c.digest},
            {"verification_key", c.verification_key},
            {"code", c.code}};
}

CellRecord cell_record_from_json(const json& line) {
    return {.digest = line.at("cell_digest"),
            .identity = line.at("cell"),
            .verification_key = line.at("verification_key"),
            .code = line.at("code")};
}

json trial_line(const TrialStart& t) {
    json line = cell_to_json(t.cell);
    line.update({{"type", "trial"},
                 {"trial", t.trial},
                 {"experiment", t.experiment},
                 {"index", t.number},
                 {"block", t.block},
                 {"purpose", t.purpose},
                 {"started", t.started},
                 {"machine", t.machine},
                 {"provenance", t.provenance},
                 {"oversubscribed", t.oversubscribed}});
    return line;
}

json outcome_line(const TrialOutcome& o) {
    return {{"type", "outcome"},      {"trial", o.trial}, {"status", to_text(o.status)}, {"reason", o.reason},
            {"log_tail", o.log_tail}, {"ended", o.ended}, {"wall_s", o.wall_s}};
}

std::string machine_fingerprint(const json& machine) {
    const std::string text = machine.dump();  // keys are sorted
    const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string new_uuid() {
    std::array<unsigned char, 16> b{};
    if (::getrandom(b.data(), b.size(), 0) != static_cast<ssize_t>(b.size()))
        throw EnvironmentError(fmt::format("cannot read random bytes from the system: {}", std::strerror(errno)));
    b[6] = static_cast<unsigned char>((b[6] & 0x0f) | 0x40);  // RFC 4122, version 4
    b[8] = static_cast<unsigned char>((b[8] & 0x3f) | 0x80);
    std::string text;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", b[i]);
    }
    return text;
}

std::string utc_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    const std::time_t seconds = ms / 1000;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return fmt::format("{}.{:03}Z", text, ms % 1000);
}

}  // namespace gnnbench
