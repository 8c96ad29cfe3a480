// The `cpu` kernel: dense and sparse operations on this machine's cores, by OpenMP, Highway, libxsmm and OpenBLAS.
#include <string>

#include <gnnbench/host_memory.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/plugin.hpp>

#include "cpu_backend.hpp"
#include "limits.hpp"
#include "panels.hpp"
#include "row_operations.hpp"

namespace gnnbench::cpu {
namespace {

constexpr ParamDecl params[] = {
    {"format", ParamType::choice, "auto", 0, 0,
     "auto|untimed|rows|used-rows|tiled|tiled-1024|tiled-1536|tiled-2048|tiled-3072|tiled-4096|tiled-6144|"
     "tiled-8192|tiled-12288|tiled-16384|reordered",
     "layout of sparse matrices: auto times several for each large one, untimed decides by sizes; or always the "
     "same"},
    {"transport", ParamType::choice, "shared", 0, 0, "shared|mpi",
     "between ranks: memory that all ranks of a host read in place (mpi where they are on several), or always "
     "mpi"},
};

LayoutWish layout_wish(const std::string& name) {
    using By = LayoutWish::By;
    if (name == "auto") return {.by = By::timing};
    if (name == "untimed") return {.by = By::rule};
    if (name == "rows") return {.by = By::name, .named = {Format::rows}};
    if (name == "used-rows") return {.by = By::name, .named = {Format::used_rows}};
    if (name == "reordered") return {.by = By::name, .named = {Format::reordered}};
    const std::size_t number = std::string("tiled-").size();
    return {.by = By::name, .named = {Format::tiled, name.size() > number ? std::stoll(name.substr(number)) : 0}};
}

class CpuPlugin final : public BackendPlugin {
public:
    std::string why_unsupported(const KernelSetting& s) const override {
        if (s.threads < 1) return "needs at least 1 thread; " + std::to_string(s.threads) + " given";
        return {};
    }
    std::string device_name(const KernelSetting& s) const override {
        return "CPU, " + std::to_string(s.threads) + (s.threads == 1 ? " thread" : " threads");
    }
    std::unique_ptr<Backend> create(const KernelSetting& s) const override {
        if (const std::string why = why_unsupported(s); !why.empty()) throw LogicError("cpu kernel: " + why);
        limit_instructions();
        LayoutWish wish = layout_wish(s.params.choice("format"));
        wish.widths = product_widths(s.widths);
        if (s.heads > 0) {
            // Layers transform first: what is attended over is as wide as a layer.
            wish.heads = s.heads;
            wish.widths.assign(s.widths.begin() + (s.widths.empty() ? 0 : 1), s.widths.end());
        }
        const bool shares = s.params.choice("transport") == "shared";
        auto memory = shares && s.local_ranks > 1 ? SharedHostMemory::make(s.local_ranks) : nullptr;
        if (s.dtype == DType::f32)
            return std::make_unique<CpuBackend<float>>(s.threads, std::move(wish), shares, std::move(memory));
        return std::make_unique<CpuBackend<double>>(s.threads, std::move(wish), shares, std::move(memory));
    }
};

}  // namespace
}  // namespace gnnbench::cpu

using gnnbench::cpu::CpuPlugin;
using gnnbench::cpu::params;
GNNBENCH_PLUGIN(
    kernel, CpuPlugin, "cpu", "1.0.0",
    "this machine's cores: tiled sparse formats, vector instructions picked at run time; tuned for float32",
    params)
GNNBENCH_KERNEL_IN_HOST_MEMORY
