#include "verify/product.hpp"

#include <algorithm>
#include <memory>

namespace gnnbench::verify {
namespace {

template <class Plugin>
struct Named {
    std::string name;
    std::unique_ptr<Plugin> plugin;
    std::span<const ParamDecl> declared;
};

std::vector<std::string> usable(const PluginCatalog& catalog, PluginKind kind) {
    std::vector<std::string> names;
    for (const ListedPlugin& p : catalog.list())
        if (p.kind == kind && p.usable()) names.push_back(p.name);
    return names;
}

/// Parameters of a strategy with one combination of the varied values.
struct Combination {
    Params params;
    std::vector<std::pair<std::string, std::string>> varied;
    std::string changed;
    std::size_t changes = 0;
};

/// Of those with at most `most_changed` values that are not the default.
std::vector<Combination> combinations(std::span<const ParamDecl> declared, std::size_t most_changed) {
    std::vector<Combination> all = {{.params = Params(declared), .varied = {}, .changed = {}}};
    for (const ParamDecl& p : declared) {
        const auto values = product_values(p);
        if (values.size() < 2) continue;
        std::vector<Combination> wider;
        for (const Combination& c : all)
            for (const std::string& value : values) {
                if (value != p.default_value && c.changes == most_changed) continue;
                Combination next = c;
                next.params.set(p, value);
                next.varied.emplace_back(p.name, value);
                if (value != p.default_value) {
                    ++next.changes;
                    next.changed += (next.changed.empty() ? "" : ", ") + std::string(p.name) + "=" + value;
                }
                wider.push_back(std::move(next));
            }
        all = std::move(wider);
    }
    return all;
}

/// Sets standing, reason and need of a cell.
void judge(ProductCell& cell, const Subject& subject, const Strategy& strategy,
           const Named<Partitioner>& partitioner, const std::string& first_partitioner) {
    const auto stands = [&](Standing standing, std::string reason) {
        cell.standing = standing;
        cell.reason = std::move(reason);
    };
    const Setting setting{cell.ranks, subject.model, subject.train, cell.params};
    if (const std::string why = strategy.why_unsupported(setting); !why.empty())
        return stands(Standing::refused, why);
    cell.need = strategy.partition_need(setting);
    const Params params(partitioner.declared);
    if (const std::string why = why_not_served(*partitioner.plugin, subject.size, cell.need, params); !why.empty())
        return stands(Standing::refused, why);
    if (cell.need.parts == 1 && cell.need.column_parts <= 1 && partitioner.name != first_partitioner)
        return stands(Standing::alike, "one part only: as " + first_partitioner);
    if (const std::string what = strategy.approximation_of(subject.model, cell.params); !what.empty())
        stands(Standing::approximate, what);
}

}  // namespace

std::vector<std::string> product_values(const ParamDecl& p) {
    std::vector<std::string> values = {p.default_value};
    const auto add = [&](const std::string& value) {
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    };
    if (p.type == ParamType::boolean) {
        add("false");
        add("true");
    } else if (p.type == ParamType::choice) {
        const std::string words = p.choices;
        for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
            end = words.find('|', begin);
            add(words.substr(begin, end - begin));
        }
    } else if (p.type == ParamType::integer && p.minimum == 1) {
        const auto one_more = std::stoll(p.default_value) + 1;
        add("1");
        if (static_cast<double>(one_more) <= p.maximum) add(std::to_string(one_more));
    }
    return values;
}

std::vector<ProductCell> whole_product(const PluginCatalog& catalog, const std::vector<Subject>& subjects,
                                       const std::vector<int>& ranks) {
    std::vector<Named<Partitioner>> partitioners;
    for (const std::string& name : usable(catalog, PluginKind::partitioner))
        partitioners.push_back(
            {name, catalog.partitioner(name), catalog.find(PluginKind::partitioner, name).params});
    std::vector<Named<Strategy>> strategies;
    std::vector<std::vector<Combination>> of_strategy;
    for (const std::string& name : usable(catalog, PluginKind::strategy)) {
        strategies.push_back({name, catalog.strategy(name), catalog.find(PluginKind::strategy, name).params});
        const bool batches = strategies.back().plugin->trains_on_batches();
        of_strategy.push_back(combinations(strategies.back().declared, batches ? 1 : SIZE_MAX));
    }
    std::vector<ProductCell> cells;
    for (const int count : ranks)
        for (const Subject& subject : subjects)
            for (std::size_t s = 0; s < strategies.size(); ++s)
                for (const Combination& c : of_strategy[s])
                    for (const auto& partitioner : partitioners) {
                        cells.push_back({.ranks = count,
                                         .graph = subject.graph,
                                         .layers = subject.layers,
                                         .strategy = strategies[s].name,
                                         .params = c.params,
                                         .varied = c.varied,
                                         .changed = c.changed,
                                         .partitioner = partitioner.name,
                                         .need = {},
                                         .reason = {}});
                        judge(cells.back(), subject, *strategies[s].plugin, partitioner, partitioners[0].name);
                    }
    return cells;
}

}  // namespace gnnbench::verify
