#include <algorithm>
#include <functional>
#include <map>

#include "panels.hpp"

namespace gnnbench::cpu {

std::vector<Panel> cut_columns(std::int64_t cols, std::int64_t widest) {
    const std::int64_t steps = (cols + panel_step - 1) / panel_step;
    const std::int64_t panels = (steps * panel_step + widest - 1) / widest;
    std::vector<Panel> out;
    for (std::int64_t i = 0; i < panels; ++i) {
        const std::int64_t first = steps * i / panels * panel_step, end = steps * (i + 1) / panels * panel_step;
        out.push_back({first, std::min(end, cols) - first, end - first});
    }
    return out;
}

std::int64_t widest_of(const std::vector<Panel>& panels) {
    std::int64_t widest = 0;
    for (const Panel& p : panels) widest = std::max(widest, p.width);
    return widest;
}

std::vector<std::int64_t> product_widths(const std::vector<std::int64_t>& model) {
    if (model.size() < 2) return model;
    std::vector<std::int64_t> out;
    for (std::size_t l = 0; l + 1 < model.size(); ++l) out.push_back(std::min(model[l], model[l + 1]));
    return out;
}

std::vector<TrialPanels> trial_panels(const std::vector<std::int64_t>& widths) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t w : widths)
        for (const Panel& p : cut_columns(w)) ++counts[p.width];
    if (counts.empty()) return {{widest_panel, 1}};
    std::vector<TrialPanels> out;
    for (const auto& [width, count] : counts) out.push_back({width, count});
    std::ranges::sort(out, std::greater(), [](const TrialPanels& p) { return p.width * p.count; });
    if (out.size() > 2) out.resize(2);
    std::ranges::sort(out, std::greater());
    return out;
}

}  // namespace gnnbench::cpu
