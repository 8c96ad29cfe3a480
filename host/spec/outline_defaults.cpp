#include "spec/outline_defaults.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gnnbench {
namespace {

bool sets(const Assignments& all, const Field& f) {
    return std::ranges::any_of(all, [&](const Assignment& a) { return a.field == &f; });
}

/// If every value of an axis sets it, only a cell added by `include` can need the default.
bool may_be_needed(const Outline& outline, const Field& f) {
    const auto always_sets = [&](const Outline::VariedKey& v) {
        return std::ranges::all_of(v.options, [&](const Assignments& option) { return sets(option, f); });
    };
    return !outline.included.empty() || std::ranges::none_of(outline.varied, always_sets);
}

}  // namespace

void fill_in_defaults(Outline& outline, const SetKeys& set, const Place& place, const ValueReader& reader,
                      Findings& findings) {
    for (const Field& f : fields()) {
        const bool seen = std::ranges::find(set.seen, f.path) != set.seen.end(),
                   claimed = set.claimed.contains(f.path);
        if (!seen && f.required()) {
            findings.add(place, f.path, fmt::format("required, and missing; expected {}", expectation(f)));
            continue;
        }
        if (!claimed && f.computed && !seen) outline.origins[f.path] = fmt::format("default ({})", f.computed);
        if (f.fallback && !sets(outline.fixed, f) && (!seen || claimed)) {
            outline.origins.emplace(f.path, "default");
            if (!may_be_needed(outline, f)) continue;
            outline.by_default.push_back(&f);
            YamlNode node = parse_yaml_value(f.fallback, place.origin, findings);
            node.place = place;
            if (auto value = reader.read(f, node, fmt::format("{} (by default {})", f.path, f.fallback)))
                outline.fixed.push_back({&f, std::move(*value), place});
        }
    }
}

}  // namespace gnnbench
