#include "report/claims_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/plural.hpp"
#include "report/format.hpp"

namespace gnnbench {
namespace {

constexpr Ruling decided[] = {Ruling::reproduced, Ruling::within_2, Ruling::contradicted};

bool is_undecided(const JudgedClaim& c) { return c.decisive().ruling == Ruling::undecided; }

/// Why nothing decides a claim: what is missing, without saying the same of both kinds of numbers.
std::string why_undecided(const JudgedClaim& c) {
    const std::string &measured = c.measured.why, &simulated = c.simulated.why;
    if (measured == simulated || simulated.empty()) return measured;
    if (measured.empty()) return simulated;
    return fmt::format("measured: {}; simulated: {}", measured, simulated);
}

/// "7.4 (SIMULATED on dgx-v100)": what a verdict rests on.
std::string evidence(const ClaimVerdict& v) {
    if (v.ruling == Ruling::undecided) return "";
    return fmt::format("{} ({})", v.ours.empty() ? "as stated" : v.ours, v.setting);
}

std::string evidence(const JudgedClaim& c) {
    const std::string measured = evidence(c.measured), simulated = evidence(c.simulated);
    if (measured.empty() || simulated.empty()) return measured + simulated;
    return fmt::format("{}; {}: {}", measured, to_text(c.simulated.ruling), simulated);
}

std::string remarks(const PaperClaim& c) {
    std::string all = c.caution;
    if (!c.contradicts.empty())
        all += (all.empty() ? "" : "; ") + ("the paper contradicts itself: " + c.contradicts);
    return all;
}

std::vector<const JudgedClaim*> chosen(const ClaimsView& paper, bool undecided) {
    std::vector<const JudgedClaim*> all;
    for (const JudgedClaim& c : paper.claims)
        if (!undecided || is_undecided(c)) all.push_back(&c);
    return all;
}

/// Lines of at most `width` columns, each after `indent` blanks.
std::string folded(const std::string& text, std::size_t indent, std::size_t width) {
    std::string out;
    for (const std::string& line : folded_to(text, std::max(width, indent + 1) - indent))
        out += std::string(indent, ' ') + line + '\n';
    return out;
}

nlohmann::ordered_json verdict_json(const ClaimVerdict& v, const SourcesOf& sources) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const CellSource& s : sources(v))
        cells.push_back({{"cell", s.digest}, {"command", s.command}, {"commits", s.commits}, {"dates", s.dates}});
    return {{"verdict", to_text(v.ruling)},
            {"setting", v.setting},
            {"ours", v.ours},
            {"why", v.why},
            {"cells", cells}};
}

}  // namespace

RulingCounts count_rulings(std::span<const JudgedClaim> claims) {
    RulingCounts n;
    for (const JudgedClaim& c : claims) {
        ++n.claims;
        n.undecided += is_undecided(c);
        ++n.measured[static_cast<std::size_t>(c.measured.ruling)];
        ++n.simulated[static_cast<std::size_t>(c.simulated.ruling)];
    }
    return n;
}

QueryResult claim_counts_table(std::span<const ClaimsView> papers) {
    QueryResult all{{"paper", "claims"}, {}};
    for (const char* kind : {"measured", "simulated"})
        for (const Ruling v : decided) all.columns.push_back(fmt::format("{}: {}", kind, to_text(v)));
    all.columns.insert(all.columns.end(), {fmt::format("simulated: {}", to_text(Ruling::fitted)), "UNDECIDED"});
    for (const ClaimsView& paper : papers) {
        const RulingCounts n = count_rulings(paper.claims);
        SqlRow row{paper.file->name, n.claims};
        for (const EvidenceKind kind : {EvidenceKind::measured, EvidenceKind::simulated})
            for (const Ruling v : decided) row.emplace_back(n.of(kind, v));
        row.emplace_back(n.of(EvidenceKind::simulated, Ruling::fitted));
        row.emplace_back(n.undecided);
        all.rows.push_back(std::move(row));
    }
    return all;
}

QueryResult claims_table(const ClaimsView& paper, bool undecided) {
    QueryResult all{{"claim", "where", "says", "stated", "verdict", "ours", "remarks"}, {}};
    for (const JudgedClaim* c : chosen(paper, undecided)) {
        std::string notes = remarks(*c->claim);
        if (is_undecided(*c)) notes = why_undecided(*c) + (notes.empty() ? "" : "; ") + notes;
        all.rows.push_back({c->claim->id, c->claim->at, c->claim->says, stated(*c->claim),
                            std::string(to_text(c->decisive().ruling)), evidence(*c), notes});
    }
    return all;
}

std::string claims_text(const ClaimsView& paper, bool undecided, std::size_t width) {
    std::string text;
    for (const JudgedClaim* c : chosen(paper, undecided)) {
        const PaperClaim& claim = *c->claim;
        text +=
            fmt::format("{}  {}/{}  ({})\n", to_text(c->decisive().ruling), paper.file->name, claim.id, claim.at);
        text += folded(claim.says, 4, width);
        if (claim.judged()) text += folded("stated: " + stated(claim), 4, width);
        if (is_undecided(*c))
            text += folded("missing: " + why_undecided(*c), 4, width);
        else
            text += folded("ours: " + evidence(*c), 4, width);
        if (const std::string notes = remarks(claim); !notes.empty()) text += folded("note: " + notes, 4, width);
        text += '\n';
    }
    const RulingCounts n = count_rulings(paper.claims);
    text += plural(n.claims, "claim") + ", by measurement / by simulation:";
    for (const Ruling v : decided)
        text += fmt::format(" {} / {} {},", n.of(EvidenceKind::measured, v), n.of(EvidenceKind::simulated, v),
                            to_text(v));
    return text + fmt::format(" {} {}, {} {}\n", n.of(EvidenceKind::simulated, Ruling::fitted),
                              to_text(Ruling::fitted), n.undecided, to_text(Ruling::undecided));
}

nlohmann::ordered_json claims_json(const ClaimsView& paper, bool undecided, const SourcesOf& sources) {
    nlohmann::ordered_json claims = nlohmann::ordered_json::array();
    for (const JudgedClaim* c : chosen(paper, undecided)) {
        const PaperClaim& claim = *c->claim;
        claims.push_back({{"id", claim.id},
                          {"at", claim.at},
                          {"says", claim.says},
                          {"stated", stated(claim)},
                          {"verdict", to_text(c->decisive().ruling)},
                          {"measured", verdict_json(c->measured, sources)},
                          {"simulated", verdict_json(c->simulated, sources)},
                          {"caution", claim.caution},
                          {"contradicts", claim.contradicts},
                          {"missing", is_undecided(*c) ? why_undecided(*c) : ""}});
    }
    return {{"paper", paper.file->name}, {"source", paper.file->source}, {"claims", claims}};
}

}  // namespace gnnbench
