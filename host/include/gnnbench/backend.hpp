#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gnnbench/device.hpp>
#include <gnnbench/graph.hpp>
#include <gnnbench/params.hpp>
#include <gnnbench/plugin.hpp>
#include <gnnbench/setup_cost.hpp>
#include <gnnbench/verbs.hpp>

namespace gnnbench {

class Backend;
class ProcessGroup;
class Transport;

/// A rank's compute back end: its device, and the verbs on it (verbs.hpp). Each verb's shapes are checked and its time
/// recorded in the trace before and after `perform`, which a plugin implements.
/// Row-major everywhere. All dense values have the back end's dtype.
class Backend : public Device,
                public SparseVerbs<Backend>,
                public DenseVerbs<Backend>,
                public AttentionVerbs<Backend>,
                public DynamicAttentionVerbs<Backend>,
                public ElementwiseVerbs<Backend>,
                public LossVerbs<Backend>,
                public OptimizerVerbs<Backend>,
                public RowVerbs<Backend> {
public:
    using Device::Device;
    ~Backend() override;

    Trace& trace() { return trace_; }
    /// What preparing matrices has taken so far.
    const SetupPart& prepare_cost() const { return prepare_cost_; }
    /// Whether device memory has contents. Where it has none, nothing needs to be copied there, and what is read back, such
    /// as a loss, means nothing.
    bool holds_values() const { return do_holds_values(); }
    /// Choices made at run time, for the record ("transport: nccl"); empty if there were none.
    std::string notes() const { return do_notes(); }

    std::unique_ptr<PreparedMatrix> prepare(const Csr& a, TransposedProducts t = TransposedProducts::none);
    /// Overload for back ends without values, which need only the size.
    std::unique_ptr<PreparedMatrix> prepare(const SparseSize& a, TransposedProducts t = TransposedProducts::none);
    /// For a matrix of which back ends without values are told the size alone: one that charges for products charges these
    /// the same with values as without.
    std::unique_ptr<PreparedMatrix> prepare_as_sized(const Csr& a,
                                                     TransposedProducts t = TransposedProducts::none);

    /// A matrix in device memory as one for attention, and for no other product. Its arrays stay in use.
    std::unique_ptr<PreparedMatrix> refer(const CsrView& a);

    /// Performs a verb on the compute stream, unless it has nothing to do. Callers use the functions of its group.
    template <class Verb>
    void run(const Verb& v) {
        v.check();
        if (v.empty()) return;
        const Timed timed(trace_, {.phase = Verb::phase, .operation = v.operation()});
        perform(v);
    }

    /// The transport that moves this back end's memory between the ranks of `group`.
    std::unique_ptr<Transport> connect(const ProcessGroup& group);

private:
    /// A span from construction to destruction.
    class Timed {
    public:
        Timed(Trace& trace, const Span& span) : trace_(trace), id_(trace.open(span)) {}
        ~Timed() { trace_.close(id_); }
        Timed(const Timed&) = delete;
        Timed& operator=(const Timed&) = delete;

    private:
        Trace& trace_;
        Trace::SpanId id_;
    };

#define GNNBENCH_VERB(V) virtual void perform(const verb::V& v) = 0;
    GNNBENCH_EACH_VERB(GNNBENCH_VERB)
#undef GNNBENCH_VERB
    using Prepare = std::unique_ptr<PreparedMatrix> (Backend::*)(const Csr&, TransposedProducts);
    std::unique_ptr<PreparedMatrix> prepare_timed(Prepare prepare, const Csr& a, TransposedProducts t);
    virtual std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) = 0;
    virtual std::unique_ptr<PreparedMatrix> do_prepare_size(const SparseSize& a, TransposedProducts t);
    virtual std::unique_ptr<PreparedMatrix> do_prepare_as_sized(const Csr& a, TransposedProducts t) {
        return do_prepare(a, t);
    }
    virtual std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) = 0;
    virtual std::unique_ptr<Transport> do_connect(const ProcessGroup& group) = 0;
    virtual std::string do_notes() const { return {}; }
    virtual bool do_holds_values() const { return true; }

    SetupPart prepare_cost_;
    Trace trace_;
};

/// The settings that a back-end plugin makes a back end for.
struct KernelSetting {
    DType dtype = DType::f32;
    int threads = 1;       ///< CPU threads of this rank
    int local_rank = 0;    ///< this rank's number on its host, which selects its device
    int local_ranks = 1;   ///< ranks on this host
    bool is_rank = false;  ///< this process is one of the ranks; whoever plans a trial is none
    Params params = {};
    /// Widths of the model, features first and classes last, if known; a back end may tune its products for them.
    std::vector<std::int64_t> widths = {};
    /// The most heads of a layer, where its matrices are attended over (AttentionVerbs); 0: they are not.
    std::int64_t heads = 0;
    /// Where ranks share a process: the group, as the rank sees it that the back end is for. Valid during the call alone.
    const ProcessGroup* ranks = nullptr;
    /// Makes the back end that computes for one that simulates a device and shall hold values. Not set: none is wanted.
    std::function<std::unique_ptr<Backend>()> arithmetic = {};
};

/// A back-end plugin: says whether this machine supports it, and makes back ends.
class BackendPlugin {
public:
    virtual ~BackendPlugin();
    /// Why this machine does not support the setting ("no CUDA device (driver not found)"); empty if it does.
    virtual std::string why_unsupported(const KernelSetting& setting) const = 0;
    /// What it computes on: "CPU, 2 threads", "NVIDIA H100 80GB".
    virtual std::string device_name(const KernelSetting& setting) const = 0;
    virtual std::unique_ptr<Backend> create(const KernelSetting& setting) const = 0;
};

}  // namespace gnnbench
