#include "report/verify_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "record/stored_json.hpp"
#include "report/footnotes.hpp"
#include "report/table_render.hpp"

namespace gnnbench {
namespace {

using Align = TextGrid::Align;
using nlohmann::ordered_json;

std::string error_text(const std::optional<double>& error) { return error ? fmt::format("{:.1e}", *error) : ""; }
std::string volume_text(const std::optional<bool>& equal) { return !equal ? "" : *equal ? "equal" : "DIFFERS"; }

std::string verdict(const VerificationRecord& r) {
    std::string text = verdict_text(r.status);
    if (r.sampled_vertices > 0) text += fmt::format(" on {} vertices", r.sampled_vertices);
    return text;
}

const std::vector<std::string> heads{"dataset",    "scheme",         "partitioner", "gpus",
                                     "loss error", "gradient error", "volume",      "verdict"};

std::vector<std::string> line_of(const VerificationRow& r, bool full) {
    const auto name = [&](const std::string& text) { return full ? text : shortened(text, 24); };
    return {name(r.dataset),
            name(r.scheme),
            name(r.partitioner),
            fmt::format("{}", r.gpus),
            error_text(r.found.loss_error),
            error_text(r.found.gradient_error),
            volume_text(r.found.volume_equal),
            verdict(r.found)};
}

std::string as_text(std::span<const VerificationRow> rows) {
    TextGrid grid({Align::left, Align::left, Align::left, Align::right, Align::right, Align::right, Align::left,
                   Align::left});
    grid.add(heads);
    Footnotes notes;
    for (const VerificationRow& r : rows) {
        auto line = line_of(r, false);
        if (!r.found.reason.empty()) line.back() += " " + notes.mark(first_line(r.found.reason));
        grid.add(std::move(line));
    }
    std::string out =
        "errors: largest over epochs (and weights) against the serial float64 reference; volume: counted "
        "against stated bytes";
    out = wrapped(out, table_width(), 2) + "\n" + grid.text();
    if (!notes.notes().empty()) out += '\n';
    for (const auto& note : notes.notes()) out += wrapped(note.mark + "  " + note.text, table_width(), 3);
    return out;
}

std::string as_markdown(std::span<const VerificationRow> rows) {
    auto with_reason = heads;
    with_reason.emplace_back("reason");
    std::string out = markdown_line(with_reason) +
                      markdown_line({"---", "---", "---", "---:", "---:", "---:", "---", "---", "---"});
    for (const VerificationRow& r : rows) {
        auto line = line_of(r, true);
        line.push_back(first_line(r.found.reason));
        for (auto& field : line) field = markdown_escaped(field);
        out += markdown_line(line);
    }
    return out;
}

std::string as_csv(std::span<const VerificationRow> rows) {
    std::string out = csv_line({"dataset", "scheme", "partitioner", "gpus", "kernel", "precision", "loss_error",
                                "gradient_error", "volume_equal", "status", "sampled_vertices", "reason"});
    for (const VerificationRow& r : rows) {
        const auto number = [](const std::optional<double>& x) { return x ? fmt::format("{}", *x) : ""; };
        out += csv_line({r.dataset, r.scheme, r.partitioner, fmt::format("{}", r.gpus), r.kernel, r.precision,
                         number(r.found.loss_error), number(r.found.gradient_error),
                         !r.found.volume_equal   ? ""
                         : *r.found.volume_equal ? "true"
                                                 : "false",
                         to_text(r.found.status), fmt::format("{}", r.found.sampled_vertices), r.found.reason});
    }
    return out;
}

std::string as_json(std::span<const VerificationRow> rows) {
    ordered_json all = ordered_json::array();
    const auto number = [](const std::optional<double>& x) {
        return x ? ordered_json(*x) : ordered_json(nullptr);
    };
    for (const VerificationRow& r : rows)
        all.push_back(
            {{"dataset", r.dataset},
             {"scheme", r.scheme},
             {"partitioner", r.partitioner},
             {"gpus", r.gpus},
             {"kernel", r.kernel},
             {"precision", r.precision},
             {"status", to_text(r.found.status)},
             {"reason", r.found.reason},
             {"loss_error", number(r.found.loss_error)},
             {"gradient_error", number(r.found.gradient_error)},
             {"volume_equal", r.found.volume_equal ? ordered_json(*r.found.volume_equal) : ordered_json(nullptr)},
             {"sampled_vertices", r.found.sampled_vertices},
             {"detail", r.found.detail},
             {"checks", stored_json<ordered_json>(r.found.checks)}});
    return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

Table verification_table(std::span<const VerificationRow> rows) {
    Table table;
    table.name = "verification";
    table.heading = {"Verification against the serial float64 reference"};
    table.nothing = "nothing to verify";
    for (std::size_t h = 0; h < heads.size(); ++h) table.keys.push_back({heads[h], h < 3 || h > 5});
    table.keys.push_back({"reason"});
    for (const VerificationRow& r : rows) {
        table.rows.push_back({"", line_of(r, true), {}});
        table.rows.back().keys.push_back(first_line(r.found.reason));
    }
    return table;
}

/// Failures are emphasised, because readers look for them.
std::string verdict_text(VerificationStatus status) {
    return status == VerificationStatus::failed ? "FAILED" : to_text(status);
}

std::string render_verifications(std::span<const VerificationRow> rows, OutputFormat format) {
    switch (format) {
        case OutputFormat::text:
            return as_text(rows);
        case OutputFormat::markdown:
            return as_markdown(rows);
        case OutputFormat::csv:
            return as_csv(rows);
        case OutputFormat::json:
            return as_json(rows);
        case OutputFormat::latex:
        case OutputFormat::html:
            return render(verification_table(rows), format);
    }
    return "";
}

}  // namespace gnnbench
