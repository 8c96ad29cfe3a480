#pragma once
#include <memory>
#include <span>
#include <string>

#include "check/forwarding_backend.hpp"
#include "check/in_flight.hpp"
#include "check/ledger.hpp"

namespace gnnbench {

std::string shape_of(ConstMatrixView m);  ///< "[3x4]", for reports

/// A back end under test: every verb runs on it, and then again in float64 on the host from the operands that the
/// verb received; each element of the result must be within the bound that rounding sets (bounds.hpp). Its
/// transport's messages are checked too (checked_transport.hpp). Slow, and it waits for the device after every verb:
/// a fault that needs a missing wait shows only in a training without it.
///
/// Products: |C − C64| ≤ γ_k(|α||A||B| + |βC| + |bias|), k the nonzeros of the row or the inner length, and one more
/// for each rounding of α, β, bias and the conversion of A's values. An activation that is monotone must lie between
/// its values at both ends of that interval. Copies, gathers, fills, maxima and counts are exact.
class CheckedBackend final : public ForwardingBackend {
public:
    /// Products are recomputed on up to `threads` threads.
    CheckedBackend(std::unique_ptr<Backend> under_test, std::shared_ptr<Ledger> ledger, int threads = 1);

private:
    void do_copy_in(const void* host, void* device, std::size_t bytes) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    void do_wait(StreamRole stream, const Event& event) override;
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    /// What `a` holds, which must not be in flight.
    Csr read(const CsrView& a);
#define GNNBENCH_CHECKED_VERB(V)                   \
    void perform(const verb::V& v) override {      \
        check_access(v.operation(), v.operands()); \
        judge(v);                                  \
    }                                              \
    /** Performs v and checks its results. */      \
    void judge(const verb::V& v);
    GNNBENCH_EACH_VERB(GNNBENCH_CHECKED_VERB)
#undef GNNBENCH_CHECKED_VERB
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;

    /// No operand may be in flight to where the verb reads or writes it.
    void check_access(const char* operation, std::span<const verb::Operand> operands) {
        for (const verb::Operand& o : operands) in_flight_->check_access(operation, o.view, o.written);
    }

    std::shared_ptr<Ledger> ledger_;
    std::shared_ptr<InFlight> in_flight_;
    int threads_;
};

}  // namespace gnnbench
