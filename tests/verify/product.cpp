#include "verify/product.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <gnnbench/error.hpp>

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

/// What a strategy says of a setting, whatever the partitioner.
struct Served {
    std::string why_not;
    PartitionNeed need;  ///< where it serves it
};

Served served_by(const Strategy& strategy, const Setting& setting) {
    Served served{.why_not = strategy.why_unsupported(setting), .need = {}};
    if (served.why_not.empty()) served.need = strategy.partition_need(setting);
    return served;
}

/// Sets standing, reason and need of a cell.
void judge(ProductCell& cell, const Subject& subject, const Strategy& strategy, const Served& served,
           const Named<Partitioner>& partitioner, const std::string& first_partitioner) {
    const auto stands = [&](Standing standing, std::string reason) {
        cell.standing = standing;
        cell.reason = std::move(reason);
    };
    if (!served.why_not.empty()) return stands(Standing::refused, served.why_not);
    cell.need = served.need;
    const Params params(partitioner.declared);
    if (const std::string why = why_not_served(*partitioner.plugin, subject.size, cell.need, params); !why.empty())
        return stands(Standing::refused, why);
    if (cell.need.parts == 1 && cell.need.column_parts <= 1 && partitioner.name != first_partitioner)
        return stands(Standing::alike, "one part only: as " + first_partitioner);
    if (const std::string what = strategy.approximation_of(subject.model, cell.params); !what.empty())
        stands(Standing::approximate, what);
}

/// What the product goes through at each number of ranks, beside the subjects.
struct Factors {
    explicit Factors(const PluginCatalog& catalog) {
        for (const std::string& name : usable(catalog, PluginKind::partitioner))
            partitioners.push_back(
                {name, catalog.partitioner(name), catalog.find(PluginKind::partitioner, name).params});
        for (const std::string& name : usable(catalog, PluginKind::strategy)) {
            strategies.push_back({name, catalog.strategy(name), catalog.find(PluginKind::strategy, name).params});
            const bool batches = strategies.back().plugin->trains_on_batches();
            of_strategy.push_back(combinations(strategies.back().declared, batches ? 1 : SIZE_MAX));
        }
    }
    std::vector<Named<Partitioner>> partitioners;
    std::vector<Named<Strategy>> strategies;
    std::vector<std::vector<Combination>> of_strategy;
};

/// Adds the cells at one number of ranks of which `wanted(place)` is true, asked in the order of their places.
template <class Wanted>
void add_cells(std::vector<ProductCell>& cells, const Factors& factors, const std::vector<Subject>& subjects,
               int ranks, Wanted&& wanted) {
    std::size_t place = 0;
    for (const Subject& subject : subjects) {
        if (!subject.ranks.empty() && std::ranges::count(subject.ranks, ranks) == 0) continue;
        for (std::size_t s = 0; s < factors.strategies.size(); ++s)
            for (const Combination& c : factors.of_strategy[s]) {
                const Strategy& strategy = *factors.strategies[s].plugin;
                std::optional<Served> served;
                for (const auto& partitioner : factors.partitioners) {
                    if (!wanted(place++)) continue;
                    if (!served) served = served_by(strategy, {ranks, subject.model, subject.train, c.params});
                    cells.push_back({.ranks = ranks,
                                     .graph = subject.graph,
                                     .layers = subject.layers,
                                     .strategy = factors.strategies[s].name,
                                     .params = c.params,
                                     .varied = c.varied,
                                     .changed = c.changed,
                                     .partitioner = partitioner.name,
                                     .need = {},
                                     .reason = {}});
                    judge(cells.back(), subject, strategy, *served, partitioner, factors.partitioners[0].name);
                }
            }
    }
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
    const Factors factors(catalog);
    std::vector<ProductCell> cells;
    for (const int count : ranks) add_cells(cells, factors, subjects, count, [](std::size_t) { return true; });
    return cells;
}

std::vector<ProductCell> product_cells(const PluginCatalog& catalog, const std::vector<Subject>& subjects,
                                       int ranks, const std::vector<std::size_t>& places) {
    std::vector<ProductCell> cells;
    auto next = places.begin();
    add_cells(cells, Factors(catalog), subjects, ranks, [&](std::size_t place) {
        if (next == places.end() || *next != place) return false;
        ++next;
        return true;
    });
    if (next != places.end())
        throw DataError("the product has no cell " + std::to_string(*next) + " at " + std::to_string(ranks) +
                        " ranks, or the places do not ascend; choose them again");
    return cells;
}

}  // namespace gnnbench::verify
