#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "report/claim_verdict.hpp"

/// Numbers made by hand, and claims about them.
namespace gnnbench::claim_samples {

inline Measure measure_of(const std::string& metric, const std::string& unit) {
    Measure m;
    m.metric = metric;
    m.unit = unit;
    return m;
}

/// A number of a table, of one cell.
struct Made {
    Measure measure = measure_of("epoch_s", "s");
    ComparisonCell cell;
    Published given;
    ResolvedCell place;
};

/// Numbers by row, all in table "t" and column "c".
class Numbers {
public:
    Made& add(const std::string& row, std::vector<double> trials, int gpus = 1,
              const std::string& published = "") {
        Made& m = *made_.emplace(row, std::make_unique<Made>()).first->second;
        m.cell.gpus = gpus;
        m.cell.fields = {{"kernel", std::string("cuda")}};
        m.cell.verification.status = VerificationStatus::verified;
        if (!trials.empty()) m.place.ours = estimate(trials);
        if (!published.empty()) {
            m.given.text = published;
            m.given.unit = "s";
            m.place.given = &m.given;
            if (published != "OOM") m.given.value = m.place.published = std::stod(published);
        }
        m.place.measure = &m.measure;
        m.place.cells = m.place.own = {&m.cell};
        m.place.papers_setting = true;
        return m;
    }
    Made& simulated(const std::string& row, double value) {
        Made& m = add(row, {value});
        m.cell.simulated = "dgx-v100";
        return m;
    }
    Made& at(const std::string& row) { return *made_.at(row); }

    JudgedClaim judged(const PaperClaim& claim) const {
        return judge(
            claim, [&](const std::string&, const std::string& row, const std::string&, EvidenceKind kind) {
                const auto found = made_.find(row);
                const bool fits = found != made_.end() &&
                                  found->second->cell.simulated.empty() == (kind == EvidenceKind::measured);
                return fits ? &found->second->place : nullptr;
            });
    }
    Ruling ruling(const PaperClaim& claim) const { return judged(claim).decisive().ruling; }
    std::string why(const PaperClaim& claim) const { return judged(claim).measured.why; }

private:
    std::map<std::string, std::unique_ptr<Made>> made_;
};

/// `numbers`: rows by name.
inline PaperClaim about(std::map<std::string, std::vector<std::string>> numbers) {
    PaperClaim c;
    c.id = "c";
    for (auto& [name, rows] : numbers) c.numbers[name] = {"t", rows, {"c"}, {}};
    return c;
}

}  // namespace gnnbench::claim_samples
