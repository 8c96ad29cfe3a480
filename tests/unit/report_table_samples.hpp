#pragma once
/// Tables of cells made by hand.
#include <map>
#include <string>
#include <vector>

#include "report/paper_table.hpp"
#include "report/table_render.hpp"
#include "report_samples.hpp"

namespace gnnbench::samples {

inline constexpr const char* head = "table,row,column,value,unit,page,verbatim,erratum\n";

/// Cells as read_measured gives them; a cell's trials are numbered on from its first, and have its times.
struct Sample {
    MeasuredCells measured;
    std::map<std::int64_t, double> times_s;

    void add(const std::string& scheme, int gpus, std::vector<double> trials_s, const std::string& status = "ok") {
        ComparisonCell c = compared(scheme, gpus, "random", trials_s, 10);
        c.fields = {{"scheme", scheme},
                    {"gpus", std::to_string(gpus)},
                    {"dataset", "d"},
                    {"model.hidden", "64"},
                    {"model.depth", "2"}};
        c.synthetic = "features";
        c.status = trials_s.empty() ? trial_status(status) : TrialStatus::ok;
        if (trials_s.empty()) c.reason = "why";
        for (const double t : trials_s) {
            const auto id = static_cast<std::int64_t>(times_s.size());
            times_s[id] = t;
            c.ok_trials.push_back(id);
        }
        measured.cells.push_back(std::move(c));
    }
    std::string render_as(const TableDefinition& t, OutputFormat format = OutputFormat::text) const {
        return render(paper_table(resolve(
                          t, measured, "small",
                          [&](std::int64_t trial, const Measure&) { return std::optional(times_s.at(trial)); })),
                      format);
    }
};

inline TableDefinition definition(const std::string& more, const std::string& csv = "") {
    return read_table_definition(
        "title: T\nsource: S, Table 1\nexperiments: e\ncell: {metric: epoch_s, unit: ms}\nrow_head: GPUs\n" + more,
        "p/t.yaml", head + csv);
}

inline const std::string papers_setting = "where: {dataset: d, model.hidden: 64}\n";
inline const std::string two_by_two =
    "rows: {over: gpus, values: [1, 2]}\ncolumns: {over: scheme, values: [a, b]}\n";

inline Sample sample() {
    Sample s;
    s.measured.machine = "Sample CPU, 4 cores";
    s.measured.kernels = "cpu";
    s.measured.experiments = {"e-small"};
    return s;
}

}  // namespace gnnbench::samples
