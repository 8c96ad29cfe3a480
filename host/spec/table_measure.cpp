#include "spec/table_measure.hpp"

#include <fmt/format.h>

#include "spec/metrics.hpp"

namespace gnnbench {

std::string text_at(const YamlNode& map, std::string_view key) {
    const YamlNode* n = map.find(key);
    return n && n->scalar() ? n->text : "";
}

std::vector<std::string> texts(const YamlNode* n) {
    if (!n) return {};
    if (!n->is(YamlNode::Kind::list)) return {n->text};
    std::vector<std::string> all;
    for (const YamlNode& item : n->items) all.push_back(item.text);
    return all;
}

std::string value_text(const YamlNode& n) {
    if (n.is(YamlNode::Kind::boolean)) return is_true(n) ? "true" : "false";
    double real = 0;
    return n.is(YamlNode::Kind::real) && to_real(n, real) ? fmt::format("{}", real) : n.text;
}

namespace {

Condition equality(const YamlEntry& e) {
    Condition c{e.key, {}};
    const auto add = [&](const YamlNode& value) {
        if (value.is(YamlNode::Kind::null))
            c.or_none = true;
        else
            c.values.push_back(value_text(value));
    };
    if (e.value.is(YamlNode::Kind::list))
        for (const YamlNode& item : e.value.items) add(item);
    else
        add(e.value);
    return c;
}

}  // namespace

Conditions conditions(const YamlNode* n) {
    Conditions all;
    if (!n) return all;
    if (n->is(YamlNode::Kind::list))
        for (const YamlNode& item : n->items)
            for (Condition& c : conditions(&item)) all.push_back(std::move(c));
    else if (n->is(YamlNode::Kind::map))
        for (const YamlEntry& e : n->entries) all.push_back(equality(e));
    else
        all.push_back({.field = "", .values = {}, .or_none = false, .expression = n->text});
    return all;
}

std::string_view unit_of(Against against) {
    switch (against) {
        case Against::speed_up_over:
        case Against::relative_to:
            return "×";
        case Against::overtakes:
            return "devices";
        case Against::pays_back_over:
            return "epochs";
        case Against::efficiency_over:
        case Against::karp_flatt_over:
        case Against::nothing:
            break;
    }
    return "";
}

namespace {

constexpr std::pair<const char*, Against> all_against[] = {{"speed_up_over", Against::speed_up_over},
                                                           {"relative_to", Against::relative_to},
                                                           {"efficiency_over", Against::efficiency_over},
                                                           {"karp_flatt_over", Against::karp_flatt_over},
                                                           {"overtakes", Against::overtakes},
                                                           {"pays_back_over", Against::pays_back_over}};

/// What a number is set against, in one way.
void read_against(const YamlNode& n, Measure& m, Findings& findings) {
    const char* first = nullptr;
    for (const auto& [key, against] : all_against) {
        const YamlNode* base = n.find(key);
        if (!base) continue;
        if (first) {
            findings.add(base->place, key, fmt::format("conflicts with {}; only one such key is allowed", first));
            continue;
        }
        first = key;
        m.against = against;
        m.base = conditions(base);
        if (!n.find("unit")) m.unit = unit_of(against);
        const Metric* metric = find_metric(m.metric);
        if (!metric) continue;
        if (against == Against::pays_back_over && metric->name != "epoch_s")
            findings.add(base->place, key,
                         fmt::format("counts epochs, so the metric has to be epoch_s; found {}", m.metric));
        if ((against == Against::efficiency_over || against == Against::karp_flatt_over) && metric->unit != "s")
            findings.add(base->place, key, fmt::format("is of times; {} is none", m.metric));
        if (against == Against::overtakes)
            for (const Condition& c : m.base)
                if (c.field == "gpus") findings.add(base->place, key, "runs over gpus itself; name other fields");
    }
}

void read_until(const YamlNode& n, Measure& m, Findings& findings) {
    const YamlNode* until = n.find("until");
    if (!until) return;
    double score = 0;
    if (to_real(*until, score)) m.until = score;
    if (m.metric != "training_s")
        findings.add(until->place, "until", fmt::format("is of training_s; the metric is {}", m.metric));
}

void check_unit(const YamlNode& n, Measure& m, Findings& findings) {
    const Metric* metric = find_metric(m.metric);
    if (metric && m.unit.empty() && m.against == Against::nothing) m.unit = metric->unit;
    const ShownUnit* shown = find_unit(m.unit);
    const ShownUnit* result = find_unit(unit_of(m.against));
    const std::string_view own = m.against != Against::nothing ? result->of : metric ? metric->unit : "";
    if (metric && shown && shown->of != own)
        findings.add((n.find("unit") ? *n.find("unit") : n).place, "unit",
                     m.against == Against::nothing
                         ? fmt::format("{} is in '{}', which '{}' is no unit of", m.metric, own, m.unit)
                         : fmt::format("the result is in '{}', which '{}' is no unit of", result->name, m.unit));
}

}  // namespace

Measure read_measure(const YamlNode& n, const Measure& fallback, Findings& findings) {
    Measure m = fallback;
    if (const YamlNode* metric = n.find("metric")) {
        m = {};
        m.metric = metric->text;
        std::vector<std::string> known;
        for (const Metric& one : metrics()) known.emplace_back(one.name);
        if (!find_metric(m.metric))
            findings.add(metric->place, "metric",
                         fmt::format("there is no metric '{}'; {}", m.metric, allowed_words(m.metric, known)));
    }
    if (const YamlNode* unit = n.find("unit")) {
        m.unit = unit->text;
        std::vector<std::string> known;
        for (const ShownUnit& one : shown_units())
            if (!one.name.empty()) known.emplace_back(one.name);
        if (!find_unit(m.unit))
            findings.add(unit->place, "unit",
                         fmt::format("there is no unit '{}'; {}", m.unit, allowed_words(m.unit, known)));
    }
    read_until(n, m, findings);
    if (const YamlNode* decimals = n.find("decimals")) {
        std::int64_t whole = 0;
        if (to_integer(*decimals, whole)) m.decimals = static_cast<int>(whole);
    }
    m.over_cells = word_at<OverCells>(n, "over_cells",
                                      {{"only", OverCells::only},
                                       {"minimum", OverCells::minimum},
                                       {"maximum", OverCells::maximum},
                                       {"median", OverCells::median},
                                       {"mean", OverCells::mean},
                                       {"geometric_mean", OverCells::geometric_mean}},
                                      m.over_cells);
    read_against(n, m, findings);
    check_unit(n, m, findings);
    return m;
}

}  // namespace gnnbench
