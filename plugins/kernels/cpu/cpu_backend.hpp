#pragma once
#include <memory>
#include <string>

#include <gnnbench/backend.hpp>
#include <gnnbench/shared_host_memory.hpp>

#include "layout.hpp"
#include "workspace.hpp"

namespace gnnbench::cpu {

/// float32 or float64 on this machine's cores. Every verb has ended when it returns, so streams and events order
/// nothing.
template <class T>
class CpuBackend final : public Backend {
public:
    /// `shares`: the other ranks of this host shall read its memory; `memory`: where it then is, if there are others.
    CpuBackend(int threads, LayoutWish wish, bool shares, std::shared_ptr<SharedHostMemory> memory);

private:
    void* do_allocate(std::size_t bytes) override;
    void do_free(void* data, std::size_t bytes) noexcept override;
    std::int64_t do_free_bytes() const override;
    void do_copy_in(const void* host, void* device, std::size_t bytes) override;
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override;
    Event do_record(StreamRole stream) override;
    void do_wait(StreamRole stream, const Event& event) override;
    void do_synchronize(StreamRole stream) override;
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override;
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override;
    GNNBENCH_PERFORMS_EVERY_VERB
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override;

    std::string do_notes() const override;

    int threads_;
    LayoutWish wish_;
    std::string timed_;  ///< for the notes: of the largest matrix whose formats were timed
    std::int64_t timed_nonzeros_ = 0, timed_matrices_ = 0;
    Workspace workspace_;
    bool shares_;
    std::shared_ptr<SharedHostMemory> memory_;
    std::string transport_;  ///< for the notes
};

}  // namespace gnnbench::cpu
