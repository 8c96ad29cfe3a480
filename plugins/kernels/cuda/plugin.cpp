// The `cuda` kernel: one NVIDIA GPU per rank.
#include <string>

#include <fmt/format.h>

#include <gnnbench/backend.hpp>
#include <gnnbench/metered_device.hpp>
#include <gnnbench/plugin.hpp>

#include "attention.hpp"
#include "cuda_backend.hpp"
#include "device.hpp"

namespace gnnbench::cuda {
namespace {

constexpr ParamDecl params[] = {
    {"spmm", ParamType::choice, "auto", 0, 0, "auto|rows|balanced|panels|cusparse|deterministic",
     "implementation of sparse products: the fastest in a short trial at set-up, our kernels by rows, by balanced "
     "items or in panels of columns, or cuSPARSE; deterministic: our kernels without a trial, so that every run "
     "adds up in the same order"},
    {"transport", ParamType::choice, "auto", 0, 0, "auto|nccl|mpi|staged",
     "transport of messages: NCCL, an MPI that accepts device memory, or MPI through host memory; auto: NCCL "
     "where "
     "no device is shared"},
    {"tf32", ParamType::boolean, "false", 0, 0, nullptr,
     "dense products may round their inputs to TF32, on devices that have it"},
    {"memory_pool", ParamType::boolean, "true", 0, 0, nullptr,
     "released device memory waits for the next request; false: it goes back to the driver, whose tools see its "
     "ends"},
    {"share_devices", ParamType::boolean, "false", 0, 0, nullptr,
     "ranks may share a device where a host has more ranks than devices; times are then meaningless"},
};

ProductChoice product_choice(const std::string& name) {
    if (name == "rows") return ProductChoice::rows;
    if (name == "balanced") return ProductChoice::balanced;
    if (name == "panels") return ProductChoice::panels;
    if (name == "deterministic") return ProductChoice::deterministic;
    return name == "cusparse" ? ProductChoice::library : ProductChoice::measured;
}

TransportChoice transport_choice(const std::string& name) {
    if (name == "nccl") return TransportChoice::nccl;
    if (name == "mpi") return TransportChoice::mpi;
    return name == "staged" ? TransportChoice::staged : TransportChoice::automatic;
}

class CudaPlugin final : public BackendPlugin, public MeteredDevice {
public:
    std::string why_unsupported(const KernelSetting& s) const override {
        if (s.heads > most_heads)
            return fmt::format("attends with {} heads at most; the model has {}", most_heads, s.heads);
        return why_no_device(s);
    }
    std::string device_name(const KernelSetting& s) const override { return cuda::device_name(s); }
    std::string device_uuid(const KernelSetting& s) const override { return cuda::device_uuid(s); }
    std::unique_ptr<Backend> create(const KernelSetting& s) const override {
        // The device first: streams and handles belong to the one that is current when they are made.
        const int device = use_device(s);
        return std::make_unique<CudaBackend>(Options{.dtype = s.dtype,
                                                     .product = product_choice(s.params.choice("spmm")),
                                                     .transport = transport_choice(s.params.choice("transport")),
                                                     .tf32 = s.params.boolean("tf32"),
                                                     .memory_pool = s.params.boolean("memory_pool"),
                                                     .share_devices = s.params.boolean("share_devices"),
                                                     .device = device,
                                                     .widths = s.widths,
                                                     .attends = s.heads > 0});
    }
};

}  // namespace
}  // namespace gnnbench::cuda

using gnnbench::cuda::CudaPlugin;
using gnnbench::cuda::params;
GNNBENCH_PLUGIN(kernel, CudaPlugin, "cuda", "1.0.0",
                "one NVIDIA GPU per rank: own and cuSPARSE products picked by trial, cuBLAS, NCCL", params)
