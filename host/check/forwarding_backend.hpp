#pragma once
#include <map>
#include <memory>

#include <gnnbench/backend.hpp>

namespace gnnbench {

/// An epilogue's bias alone: for a decorator that needs sums before the activation.
inline Epilogue bias_of(const Epilogue& e) {
    Epilogue bias;
    bias.bias = e.bias;
    return bias;
}

/// A back end that forwards every verb to another: the base of decorators. Memory is counted here too, so memory() is
/// what was allocated through this back end, without what the inner one takes for itself.
class ForwardingBackend : public Backend {
public:
    explicit ForwardingBackend(std::unique_ptr<Backend> inner);
    /// `inner` outlives it.
    explicit ForwardingBackend(Backend& inner);
    ~ForwardingBackend() override;

protected:
    Backend& inner() const { return inner_; }

    void* do_allocate(std::size_t bytes) override;
    void do_free(void* data, std::size_t bytes) noexcept override;
    std::int64_t do_free_bytes() const override { return -1; }
    void do_copy_in(const void* host, void* device, std::size_t bytes) override {
        inner_.upload_bytes(host, device, bytes);
    }
    void do_copy_out(const void* device, void* host, std::size_t bytes, StreamRole stream) override {
        inner_.download_bytes(device, host, bytes, stream);
    }
    Event do_record(StreamRole stream) override { return inner_.record(stream); }
    void do_wait(StreamRole stream, const Event& event) override { inner_.wait(stream, event); }
    void do_synchronize(StreamRole stream) override { inner_.synchronize(stream); }
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override {
        return inner_.prepare(a, t);
    }
    std::unique_ptr<PreparedMatrix> do_refer(const CsrView& a) override { return inner_.refer(a); }
#define GNNBENCH_FORWARDED_VERB(V) \
    void perform(const verb::V& v) override { inner_.run(v); }
    GNNBENCH_EACH_VERB(GNNBENCH_FORWARDED_VERB)
#undef GNNBENCH_FORWARDED_VERB
    std::unique_ptr<Transport> do_connect(const ProcessGroup& group) override { return inner_.connect(group); }
    std::string do_notes() const override { return inner_.notes(); }

private:
    std::unique_ptr<Backend> owned_;
    Backend& inner_;
    std::map<void*, Buffer> buffers_;  ///< of the inner back end, by address
};

}  // namespace gnnbench
