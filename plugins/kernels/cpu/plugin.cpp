// The `cpu` kernel: dense and sparse operations on this machine's cores, by OpenMP, Highway, libxsmm and OpenBLAS.
#include <string>

#include <gnnbench/host_memory.hpp>
#include <gnnbench/backend.hpp>
#include <gnnbench/plugin.hpp>

#include "cpu_backend.hpp"
#include "row_operations.hpp"

namespace gnnbench::cpu {
namespace {

constexpr ParamDecl params[] = {
    {"format", ParamType::choice, "auto", 0, 0, "auto|rows|used-rows|tiled|reordered",
     "layout of sparse matrices: chosen for each one, or always the same"},
};

FormatChoice format_choice(const std::string& name) {
    if (name == "rows") return FormatChoice::rows;
    if (name == "used-rows") return FormatChoice::used_rows;
    if (name == "reordered") return FormatChoice::reordered;
    return name == "tiled" ? FormatChoice::tiled : FormatChoice::automatic;
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
        const FormatChoice format = format_choice(s.params.choice("format"));
        if (s.dtype == DType::f32) return std::make_unique<CpuBackend<float>>(s.threads, format);
        return std::make_unique<CpuBackend<double>>(s.threads, format);
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
