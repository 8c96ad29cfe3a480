#include "spec/expand.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <unordered_set>

#include <fmt/format.h>

#include <gnnbench/strategy.hpp>

#include "spec/setting.hpp"

namespace gnnbench {
namespace {

constexpr std::int64_t most_cells = 1'000'000;

void assign(Draft& draft, const Assignments& all) {
    for (const Assignment& a : all) a.field->assign(draft, a.value);
}

int default_threads(int ranks, const LoadOptions& options) {
    const int cores = options.cores > 0 ? options.cores : static_cast<int>(std::thread::hardware_concurrency());
    const int hosts = std::max(1, options.hosts);
    return std::max(1, cores / ((ranks + hosts - 1) / hosts));
}

/// Whether all vertices end in one part, whatever the partitioner.
bool one_part(const Cell& cell, const PluginSource& plugins) {
    if (cell.gpus > 1) return false;
    const Question q(cell, {});
    const Setting setting{cell.gpus, q.model, q.train, cell.scheme.params};
    const Strategy& strategy = plugins.strategy(cell.scheme.name);
    if (!strategy.why_unsupported(setting).empty()) return false;
    const PartitionNeed need = strategy.partition_need(setting);
    return need.parts <= 1 && need.column_parts <= 1;
}

class Expansion {
public:
    Expansion(const Outline& outline, const LoadOptions& options, const PluginSource& plugins, Findings& findings)
        : outline_(outline), options_(options), plugins_(plugins), findings_(findings) {}

    void run(const Draft& base, Experiment& experiment) {
        experiment.combinations = combinations();
        if (experiment.combinations == 0) return;
        std::vector<std::int32_t> at(outline_.varied.size(), 0);
        do {
            Draft draft = base;
            for (std::size_t i = 0; i < at.size(); ++i)
                assign(draft, outline_.varied[i].options[static_cast<std::size_t>(at[i])]);
            finish(draft);
            if (!agrees(draft.cell) || !seen_.insert(cell_digest(draft.cell)).second) continue;
            experiment.cells.push_back(std::move(draft.cell));
            experiment.choices.push_back(at);
        } while (advance(at));
    }

private:
    std::int64_t combinations() {
        std::int64_t n = 1;
        for (const auto& v : outline_.varied) {
            n *= static_cast<std::int64_t>(v.options.size());
            if (n <= most_cells) continue;
            findings_.add(v.axis.places.front(), "matrix", fmt::format("the lists multiply to more than {} cells; write "
                                                                       "several experiments", most_cells));
            return 0;
        }
        return n;
    }

    bool advance(std::vector<std::int32_t>& at) const {
        for (std::size_t i = at.size(); i-- > 0;) {
            if (++at[i] < static_cast<std::int32_t>(outline_.varied[i].options.size())) return true;
            at[i] = 0;
        }
        return false;
    }

    void finish(Draft& draft) {
        Cell& cell = draft.cell;
        if (!draft.input_dropout_given) cell.train.input_dropout = cell.train.dropout;
        if (!draft.threads_given) cell.threads_per_rank = default_threads(cell.gpus, options_);
        if (!one_part(cell, plugins_)) return;
        if (!none_) none_ = no_partitioner(plugins_, cell.partitioner);
        cell.partitioner = *none_;
    }

    /// Keys that are each fine but not together.
    bool agrees(const Cell& cell) {
        const std::size_t layers = cell.model.widths.size() + 1, decays = cell.train.weight_decay.size();
        if (decays != 1 && decays != layers) {
            findings_.add(place_of("train.weight_decay"), "train.weight_decay",
                          fmt::format("expected one number, or {} (one per layer: {} hidden and the last); found {}",
                                      layers, layers - 1, decays));
            return false;
        }
        if (cell.patience > 0 && cell.evaluate_every == 0) {
            findings_.add(place_of("train.patience"), "train.patience",
                          "stopping early needs evaluations to judge by; set train.evaluate_every");
            return false;
        }
        return true;
    }

    Place place_of(std::string_view path) const {
        const auto in = [&](const Assignments& all) -> const Assignment* {
            for (const Assignment& a : all)
                if (path == a.field->path) return &a;
            return nullptr;
        };
        for (const auto& v : outline_.varied)
            for (const Assignments& option : v.options)
                if (const Assignment* a = in(option)) return a->place;
        const Assignment* fixed = in(outline_.fixed);
        return fixed ? fixed->place : Place{};
    }

    const Outline& outline_;
    const LoadOptions& options_;
    const PluginSource& plugins_;
    Findings& findings_;
    std::unordered_set<std::string> seen_;
    std::optional<PluginChoice> none_;
};

/// Tables tell datasets apart by name.
void check_dataset_names(const Outline& outline, Findings& findings) {
    std::map<std::string, std::string> sources;
    for (const auto& v : outline.varied) {
        for (const Assignments& option : v.options) {
            for (const Assignment& a : option) {
                const auto* d = std::get_if<DatasetChoice>(&a.value);
                if (!d || sources.emplace(d->name, d->source.dump()).first->second == d->source.dump()) continue;
                findings.add(a.place, "dataset", fmt::format("two datasets would be shown as '{}'; give one of them a "
                                                             "name of its own, as {{…, name: …}}", d->name));
            }
        }
    }
}

}  // namespace

PluginChoice no_partitioner(const PluginSource& plugins, const PluginChoice& otherwise) {
    const auto block = plugins.find(PluginKind::partitioner, "block");
    if (!block) return otherwise;
    return {"block", block->version, Params(block->params), "none"};
}

void expand(const Outline& outline, const LoadOptions& options, const PluginSource& plugins, Experiment& experiment,
            Findings& findings) {
    Draft base;
    assign(base, outline.fixed);
    experiment.name = base.name;
    experiment.description = base.description;
    experiment.trials = base.trials;
    experiment.limits = base.limits;
    for (const auto& v : outline.varied) experiment.axes.push_back(v.axis);
    check_dataset_names(outline, findings);
    if (findings.empty()) Expansion(outline, options, plugins, findings).run(base, experiment);
}

}  // namespace gnnbench
