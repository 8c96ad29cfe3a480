#include "record/lines.hpp"

#include <sys/random.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "record/line_fields.hpp"

namespace gnnbench {

using nlohmann::json;

json cell_to_json(const CellRecord& c) {
    return {{"cell", c.identity},
            {"cell_digest", c.digest},
            {"verification_key", c.verification_key},
            {"code", c.code},
            {"columns",
             {{"dataset", c.dataset},
              {"dataset_digest", c.dataset_digest},
              {"scheme", c.scheme},
              {"scheme_label", c.scheme_label.empty() ? c.scheme : c.scheme_label},
              {"partitioner", c.partitioner},
              {"partitioner_label", c.partitioner_label.empty() ? c.partitioner : c.partitioner_label},
              {"kernel", c.kernel},
              {"precision", c.precision},
              {"hidden", c.hidden},
              {"layers", c.layers},
              {"optimizer", c.optimizer},
              {"learning_rate", c.learning_rate},
              {"dropout", c.dropout},
              {"gpus", c.gpus},
              {"threads_per_rank", c.threads_per_rank},
              {"seed", c.seed},
              {"epochs", c.epochs},
              {"warmup", c.warmup}}}};
}

CellRecord cell_record_from_json(const json& line) {
    const json& k = line.at("columns");
    const auto small = [&](const char* key) {
        return static_cast<int>(line_fields::whole(k, key, 0, std::numeric_limits<int>::max()));
    };
    return {.digest = line.at("cell_digest"),
            .identity = line.at("cell"),
            .verification_key = line.value("verification_key", ""),
            .code = line.value("code", json::object()),
            .dataset = k.at("dataset"),
            .dataset_digest = k.value("dataset_digest", ""),
            .scheme = k.at("scheme"),
            .scheme_label = k.at("scheme_label"),
            .partitioner = k.at("partitioner"),
            .partitioner_label = k.at("partitioner_label"),
            .kernel = k.at("kernel"),
            .precision = k.at("precision"),
            .hidden = k.at("hidden"),
            .optimizer = k.at("optimizer"),
            .learning_rate = k.at("learning_rate"),
            .dropout = k.at("dropout"),
            .gpus = small("gpus"),
            .threads_per_rank = small("threads_per_rank"),
            .layers = small("layers"),
            .seed = line_fields::seed(k, "seed"),
            .epochs = line_fields::count(k, "epochs"),
            .warmup = line_fields::count(k, "warmup")};
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
